import { useConvex, useQuery } from "convex/react";
import { useEffect, useState } from "react";
import { api } from "../convex/_generated/api";
import type { Doc, Id } from "../convex/_generated/dataModel";

export default function App() {
  const [projectId, setProjectId] = useState<Id<"projects"> | null>(null);
  const names = useQuery(api.projects.names);
  const convex = useConvex();
  const [project, setProject] = useState<Doc<"projects"> | null>();

  useEffect(() => {
    setProject(undefined);
    if (projectId === null) {
      return;
    }
    let stopped = false;
    void convex.query(api.projects.get, { projectId }).then((found) => {
      if (!stopped) {
        setProject(found);
      }
    });
    return () => {
      stopped = true;
    };
  }, [convex, projectId]);

  return (
    <main>
      <ul>
        {names?.map(({ _id, name }) => (
          <li key={_id}>
            <button type="button" onClick={() => setProjectId(_id)}>
              {name}
            </button>
          </li>
        ))}
      </ul>
      <section aria-label="Details">
        {projectId === null ? (
          <p>Choose a project</p>
        ) : (
          <>
            {project === undefined ? (
              <p>Loading...</p>
            ) : project === null ? (
              <p>This project does not exist any more</p>
            ) : (
              <>
                <h2>{project.name}</h2>
                <p>{project.summary}</p>
              </>
            )}
            <button type="button" onClick={() => setProjectId(null)}>
              Close
            </button>
          </>
        )}
      </section>
    </main>
  );
}
