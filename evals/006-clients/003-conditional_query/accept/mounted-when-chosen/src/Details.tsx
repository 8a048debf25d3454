import { useQuery } from "convex/react";
import { api } from "../convex/_generated/api";
import type { Id } from "../convex/_generated/dataModel";

interface Props {
  id: Id<"projects">;
  onClose: () => void;
}

export function Details({ id, onClose }: Props) {
  return (
    <article>
      <header>
        <button type="button" onClick={onClose}>
          Close
        </button>
      </header>
      <Body id={id} />
    </article>
  );
}

function Body({ id }: { id: Id<"projects"> }) {
  const project = useQuery(api.projects.get, { projectId: id });
  switch (project) {
    case undefined:
      return <output>Loading...</output>;
    case null:
      return <strong>This project does not exist any more</strong>;
    default:
      return (
        <div>
          <h2>{project.name}</h2>
          <p>{project.summary}</p>
        </div>
      );
  }
}
