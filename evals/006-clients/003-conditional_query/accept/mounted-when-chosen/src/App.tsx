import { useQuery } from "convex/react";
import type { FunctionReturnType } from "convex/server";
import { useState } from "react";
import { api } from "../convex/_generated/api";
import { Details } from "./Details";

type Named = FunctionReturnType<typeof api.projects.names>[number];

const App = () => {
  const [chosen, choose] = useState<Named>();
  const projects = useQuery(api.projects.names, {}) ?? [];
  return (
    <>
      <section aria-label="Details">
        {chosen ? <Details key={chosen._id} id={chosen._id} onClose={() => choose(undefined)} /> : "Choose a project"}
      </section>
      <nav>
        <ul>
          {projects.map((project) => (
            <li key={project._id}>
              <button type="button" onClick={() => choose(project)}>
                <span>{project.name}</span>
              </button>
            </li>
          ))}
        </ul>
      </nav>
    </>
  );
};

export default App;
