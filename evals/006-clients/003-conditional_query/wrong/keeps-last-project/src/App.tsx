import { useQuery } from "convex/react";
import { useRef, useState } from "react";
import { api } from "../convex/_generated/api";
import type { Id } from "../convex/_generated/dataModel";

export default function App() {
  const [projectId, setProjectId] = useState<Id<"projects"> | null>(null);
  const names = useQuery(api.projects.names);
  const current = useQuery(api.projects.get, projectId === null ? "skip" : { projectId });
  const last = useRef(current);
  if (current !== undefined) {
    last.current = current;
  }
  const project = current ?? (current === undefined ? last.current : null);

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
