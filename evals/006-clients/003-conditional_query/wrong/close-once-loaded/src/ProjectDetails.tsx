import { useQuery } from "convex/react";
import type { FunctionReturnType } from "convex/server";
import { api } from "../convex/_generated/api";
import type { Id } from "../convex/_generated/dataModel";

type Props = {
  /** The chosen project, or null if there is none. */
  projectId: Id<"projects"> | null;
  onClose: () => void;
};

export function ProjectDetails({ projectId, onClose }: Props) {
  const project = useQuery(api.projects.get, projectId === null ? "skip" : { projectId });
  return (
    <section aria-label="Details">
      {projectId === null ? (
        <p>Choose a project</p>
      ) : (
        <>
          <Project project={project} />
          {project && (
            <button type="button" onClick={onClose}>
              Close
            </button>
          )}
        </>
      )}
    </section>
  );
}

/** A project: undefined while it is loading, null if it was deleted. */
function Project({ project }: { project: FunctionReturnType<typeof api.projects.get> | undefined }) {
  if (project === undefined) {
    return <p>Loading...</p>;
  }
  if (project === null) {
    return <p>This project does not exist any more</p>;
  }
  return (
    <>
      <h2>{project.name}</h2>
      <p>{project.summary}</p>
    </>
  );
}
