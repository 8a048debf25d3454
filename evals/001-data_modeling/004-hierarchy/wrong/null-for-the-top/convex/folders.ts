import { v } from "convex/values";
import type { Doc, Id } from "./_generated/dataModel";
import { mutation, query, type QueryCtx } from "./_generated/server";

/** A position after all folders in this place. */
async function nextPosition(ctx: QueryCtx, parentId: Id<"folders"> | null): Promise<number> {
  const last = await ctx.db
    .query("folders")
    .withIndex("by_parentId_and_position", (q) => q.eq("parentId", parentId))
    .order("desc")
    .first();
  return last === null ? 0 : last.position + 1;
}

/** The folders from the top down to this one; empty if it does not exist. */
async function pathTo(ctx: QueryCtx, folderId: Id<"folders"> | undefined): Promise<Doc<"folders">[]> {
  const path: Doc<"folders">[] = [];
  let nextId = folderId;
  while (nextId !== undefined) {
    const folder: Doc<"folders"> | null = await ctx.db.get(nextId);
    if (folder === null) {
      break;
    }
    path.unshift(folder);
    nextId = folder.parentId ?? undefined;
  }
  return path;
}

export const create = mutation({
  args: { name: v.string(), parentId: v.optional(v.id("folders")) },
  returns: v.id("folders"),
  handler: async (ctx, args) => {
    if (args.parentId !== undefined && (await ctx.db.get(args.parentId)) === null) {
      throw new Error("The parent does not exist");
    }
    const parentId = args.parentId ?? null;
    const position = await nextPosition(ctx, parentId);
    return await ctx.db.insert("folders", { name: args.name, parentId, position });
  },
});

export const children = query({
  args: { parentId: v.optional(v.id("folders")) },
  handler: async (ctx, args) => {
    return await ctx.db
      .query("folders")
      .withIndex("by_parentId_and_position", (q) => q.eq("parentId", args.parentId ?? null))
      .collect();
  },
});

export const path = query({
  args: { folderId: v.id("folders") },
  handler: async (ctx, args) => {
    return await pathTo(ctx, args.folderId);
  },
});

export const move = mutation({
  args: { folderId: v.id("folders"), parentId: v.optional(v.id("folders")) },
  returns: v.null(),
  handler: async (ctx, args) => {
    const folder = await ctx.db.get(args.folderId);
    if (folder === null) {
      throw new Error("The folder does not exist");
    }
    const newPath = await pathTo(ctx, args.parentId);
    if (args.parentId !== undefined && newPath.length === 0) {
      throw new Error("The new parent does not exist");
    }
    if (newPath.some((ancestor) => ancestor._id === args.folderId)) {
      throw new Error("A folder cannot be moved into itself");
    }
    const parentId = args.parentId ?? null;
    const position = await nextPosition(ctx, parentId);
    await ctx.db.patch(args.folderId, { parentId, position });
    return null;
  },
});
