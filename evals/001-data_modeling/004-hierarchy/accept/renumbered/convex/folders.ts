import { v } from "convex/values";
import type { Doc, Id } from "./_generated/dataModel";
import { mutation, query, type MutationCtx, type QueryCtx } from "./_generated/server";

const top = v.optional(v.union(v.null(), v.id("folders")));

async function siblings(ctx: QueryCtx, parentId: Id<"folders"> | undefined) {
  const found: Doc<"folders">[] = [];
  for await (const folder of ctx.db.query("folders").withIndex("order", (q) => q.eq("parentId", parentId))) found.push(folder);
  return found;
}

/** Numbers the folders in a place from 1, with this one last. */
async function renumber(ctx: MutationCtx, parentId: Id<"folders"> | undefined, lastId: Id<"folders">) {
  const others = (await siblings(ctx, parentId)).filter(({ _id }) => _id !== lastId);
  for (const [index, { _id }] of others.entries()) await ctx.db.patch(_id, { position: index + 1 });
  await ctx.db.patch(lastId, { position: others.length + 1 });
}

export const create = mutation({
  args: { name: v.string(), parentId: top },
  handler: async (ctx, { name, parentId }) => {
    const parent = parentId ? await ctx.db.get(parentId) : undefined;
    if (parent === null) throw new Error("No such parent");
    const id = await ctx.db.insert("folders", { name, parentId: parent?._id, position: Infinity });
    await renumber(ctx, parent?._id, id);
    return id;
  },
});

export const children = query({
  args: { parentId: top },
  handler: async (ctx, { parentId }) => await siblings(ctx, parentId ?? undefined),
});

export const path = query({
  args: { folderId: v.id("folders") },
  handler: async (ctx, { folderId }) => {
    const way: Doc<"folders">[] = [];
    let folder = await ctx.db.get(folderId);
    while (folder) {
      way.push(folder);
      folder = folder.parentId ? await ctx.db.get(folder.parentId) : null;
    }
    return way.reverse();
  },
});

export const move = mutation({
  args: { folderId: v.id("folders"), parentId: top },
  handler: async (ctx, { folderId, parentId }) => {
    const place = parentId ?? undefined;
    const folder = await ctx.db.get(folderId);
    if (!folder) throw new Error("No such folder");
    await ctx.db.patch(folderId, { parentId: place });
    await renumber(ctx, place, folderId);
    for (let above = place; above !== undefined; ) {
      if (above === folderId) throw new Error("A cycle");
      const next: Doc<"folders"> | null = await ctx.db.get(above);
      if (!next) throw new Error("No such parent");
      above = next.parentId;
    }
    return null;
  },
});
