import { v } from "convex/values";
import { internal } from "./_generated/api";
import type { Doc } from "./_generated/dataModel";
import { mutation, query } from "./_generated/server";
import { inFolder, withFolder, withPage } from "./rule";

export const trash = mutation({
  args: { pageId: v.id("pages") },
  handler: (ctx, { pageId }) => withPage(ctx, pageId, () => ctx.db.patch(pageId, { trashedAt: Date.now() })),
});

export const rename = mutation({
  args: { pageId: v.id("pages"), title: v.string() },
  handler: (ctx, { pageId, title }) => withPage(ctx, pageId, () => ctx.db.patch(pageId, { title })),
});

export const move = mutation({
  args: { pageId: v.id("pages"), folderId: v.id("folders") },
  handler: (ctx, { pageId, folderId }) =>
    withFolder(ctx, folderId, () => withPage(ctx, pageId, (page) => ctx.db.patch(page._id, { folderId }))),
});

export const add = mutation({
  args: { folderId: v.id("folders"), title: v.string() },
  handler: (ctx, { folderId, title }) => withFolder(ctx, folderId, () => ctx.db.insert("pages", { folderId, title })),
});

export const get = query({
  args: { pageId: v.id("pages") },
  handler: async (ctx, args): Promise<Doc<"pages"> | null> => await ctx.runQuery(internal.rule.pageIfVisible, args),
});

export const list = query({
  args: { folderId: v.id("folders") },
  handler: (ctx, { folderId }) => inFolder(ctx, folderId),
});

export const newest = query({
  args: { count: v.number() },
  handler: async (ctx, { count }): Promise<Doc<"pages">[]> => {
    const folders = await ctx.db.query("folders").collect();
    const pages = (await Promise.all(folders.map(({ _id }) => inFolder(ctx, _id)))).flat();
    return pages.sort((a, b) => b._creationTime - a._creationTime).slice(0, count);
  },
});
