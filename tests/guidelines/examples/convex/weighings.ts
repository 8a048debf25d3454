import type { Id } from "./_generated/dataModel";
import type { QueryCtx } from "./_generated/server";

export async function latest(ctx: QueryCtx, hiveId: Id<"hives">, from: number): Promise<number> {
  // example
  return newest.length;
}
