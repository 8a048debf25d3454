import { v } from "convex/values";
import type { Id } from "./_generated/dataModel";
import { mutation, query, type QueryCtx } from "./_generated/server";
import { requireFolder, visiblePages } from "./model/visible";

async function pagesOf(ctx: QueryCtx, folderId: Id<"folders">) {
  return await ctx.db
    .query("pages")
    .withIndex("by_folderId_and_trashedAt", (q) => q.eq("folderId", folderId))
    .collect();
}

export const list = query({
  args: {},
  returns: v.array(v.object({ _id: v.id("folders"), name: v.string(), pageCount: v.number() })),
  handler: async (ctx) => {
    const folders = await ctx.db
      .query("folders")
      .withIndex("by_trashedAt", (q) => q.eq("trashedAt", undefined))
      .collect();
    return await Promise.all(
      folders.map(async ({ _id, name }) => ({ _id, name, pageCount: (await visiblePages(ctx, _id)).length })),
    );
  },
});

export const trash = mutation({
  args: { folderId: v.id("folders") },
  returns: v.null(),
  handler: async (ctx, args) => {
    const folder = await requireFolder(ctx, args.folderId);
    await ctx.db.patch(folder._id, { trashedAt: Date.now() });
    for (const page of await pagesOf(ctx, folder._id)) {
      await ctx.db.patch(page._id, { trashedAt: Date.now() });
    }
    return null;
  },
});

export const restore = mutation({
  args: { folderId: v.id("folders") },
  returns: v.null(),
  handler: async (ctx, args) => {
    const folder = await ctx.db.get(args.folderId);
    if (folder === null || folder.trashedAt === undefined) {
      throw new Error("No such folder in the trash");
    }
    await ctx.db.patch(folder._id, { trashedAt: undefined });
    for (const page of await pagesOf(ctx, folder._id)) {
      await ctx.db.patch(page._id, { trashedAt: undefined });
    }
    return null;
  },
});
