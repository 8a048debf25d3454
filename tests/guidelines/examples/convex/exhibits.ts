import type { Doc, Id } from "./_generated/dataModel";
import type { QueryCtx } from "./_generated/server";

export async function find(ctx: QueryCtx, museumId: Id<"museums">, words: string): Promise<Doc<"exhibits">[]> {
  // example
  return found;
}
