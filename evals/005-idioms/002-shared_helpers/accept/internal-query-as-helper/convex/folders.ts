import { v } from "convex/values";
import { mutation, query } from "./_generated/server";
import { inFolder, withFolder } from "./rule";

export const restore = mutation({
  args: { folderId: v.id("folders") },
  handler: async (ctx, { folderId }) => {
    const trashed = await ctx.db
      .query("folders")
      .withIndex("by_trashedAt", (q) => q.gt("trashedAt", undefined))
      .collect();
    const folder = trashed.find(({ _id }) => _id === folderId);
    if (!folder) throw new Error("Nothing to restore");
    await ctx.db.patch(folder._id, { trashedAt: undefined });
    return null;
  },
});

export const trash = mutation({
  args: { folderId: v.id("folders") },
  handler: (ctx, { folderId }) =>
    withFolder(ctx, folderId, async ({ _id }) => {
      await ctx.db.patch(_id, { trashedAt: Date.now() });
      return null;
    }),
});

export const list = query({
  args: {},
  handler: async (ctx) => {
    const result = [];
    for await (const { _id, name, trashedAt } of ctx.db.query("folders")) {
      if (trashedAt !== undefined) continue;
      result.push({ _id, name, pageCount: (await inFolder(ctx, _id)).length });
    }
    return result;
  },
});
