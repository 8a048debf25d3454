import { useQuery } from "convex/react";
import { api } from "../convex/_generated/api";
import type { Id } from "../convex/_generated/dataModel";

type Props = { onChoose: (projectId: Id<"projects">) => void };

export function ProjectList({ onChoose }: Props) {
  const projects = useQuery(api.projects.names) ?? [];
  return (
    <ul>
      {projects.map(({ _id, name }) => (
        <li key={_id}>
          <button type="button" onClick={() => onChoose(_id)}>
            {name}
          </button>
        </li>
      ))}
    </ul>
  );
}
