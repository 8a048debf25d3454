import { useQueries, useQuery, type RequestForQueries } from "convex/react";
import { useMemo, useReducer, type ReactNode } from "react";
import { api } from "../convex/_generated/api";
import type { Doc, Id } from "../convex/_generated/dataModel";

type Choice = Id<"projects"> | "none";

function useProject(choice: Choice): Doc<"projects"> | null | undefined {
  const queries = useMemo((): RequestForQueries => {
    return choice === "none" ? {} : { chosen: { query: api.projects.get, args: { projectId: choice } } };
  }, [choice]);
  const { chosen } = useQueries(queries) as { chosen?: Doc<"projects"> | null | Error };
  if (chosen instanceof Error) throw chosen;
  return chosen;
}

export default function ProjectBrowser() {
  const [choice, dispatch] = useReducer((_: Choice, next: Choice) => next, "none");
  const names = useQuery(api.projects.names);
  const project = useProject(choice);

  function body(): ReactNode {
    if (choice === "none") return <p>Choose a project</p>;
    if (project === undefined) return <p>Loading...</p>;
    if (project === null) return <p>This project does not exist any more</p>;
    return [<h2 key="name">{project.name}</h2>, <p key="summary">{project.summary}</p>];
  }

  return (
    <div>
      <ul>{names && names.map((project) => <li key={project._id}><button type="button" onClick={() => dispatch(project._id)}>{project.name}</button></li>)}</ul>
      <section aria-label="Details">
        {body()}
        {choice !== "none" && <button type="button" onClick={() => dispatch("none")}>Close</button>}
      </section>
    </div>
  );
}
