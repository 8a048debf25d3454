import { useQuery } from "convex/react";
import type { ReactNode } from "react";
import { api } from "../convex/_generated/api";
import type { Id } from "../convex/_generated/dataModel";

export function Plot({ plotId }: { plotId: Id<"plots"> | null }): ReactNode {
  // example
}
