import { TableAggregate } from "@convex-dev/aggregate";
import { components } from "./_generated/api";
import type { DataModel, Id } from "./_generated/dataModel";
import type { QueryCtx } from "./_generated/server";

export async function countSmall(ctx: QueryCtx, pondId: Id<"ponds">): Promise<number> {
  // example
  return small;
}
