import { ConvexError } from "convex/values";
import type { Doc, Id } from "../_generated/dataModel";
import type { QueryCtx } from "../_generated/server";

type Place = Id<"folders"> | undefined;

export async function inPlace({ db }: QueryCtx, place: Place): Promise<Doc<"folders">[]> {
  const found = await db
    .query("folders")
    .withIndex("parent", (q) => q.eq("parentId", place))
    .collect();
  return found.sort((a, b) => a.position - b.position);
}

export async function endOf(ctx: QueryCtx, place: Place): Promise<number> {
  const positions = (await inPlace(ctx, place)).map(({ position }) => position);
  return Math.max(0, ...positions) + 1024;
}

export async function required({ db }: QueryCtx, id: Id<"folders">): Promise<Doc<"folders">> {
  const found = await db.get("folders", id);
  if (!found) throw new ConvexError({ code: "NOT_FOUND", id });
  return found;
}

export async function wayTo(ctx: QueryCtx, id: Id<"folders">): Promise<Doc<"folders">[]> {
  const found = await ctx.db.get("folders", id);
  if (!found) return [];
  return [...(found.parentId ? await wayTo(ctx, found.parentId) : []), found];
}

/** Whether a folder is this one or below it. */
export async function contains(ctx: QueryCtx, id: Id<"folders">, wanted: Place): Promise<boolean> {
  let level = [id];
  while (level.length > 0) {
    if (wanted !== undefined && level.includes(wanted)) return true;
    const below = await Promise.all(level.map((parent) => inPlace(ctx, parent)));
    level = below.flat().map(({ _id }) => _id);
  }
  return false;
}
