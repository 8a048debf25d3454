import { useQuery } from "convex/react";
import { useState } from "react";
import { api } from "../convex/_generated/api";
import type { Id } from "../convex/_generated/dataModel";

export default function App() {
  const [projectId, setProjectId] = useState("");
  const names = useQuery(api.projects.names);
  const project = useQuery(api.projects.get, { projectId: projectId as Id<"projects"> });

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
        {projectId === "" ? (
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
            <button type="button" onClick={() => setProjectId("")}>
              Close
            </button>
          </>
        )}
      </section>
    </main>
  );
}
