import { v } from "convex/values";
import type { Doc } from "./_generated/dataModel";
import { mutation, query } from "./_generated/server";
import { requireFolder, requirePage, visibleFolder, visiblePage, visiblePages } from "./model/visible";

export const add = mutation({
  args: { folderId: v.id("folders"), title: v.string() },
  returns: v.id("pages"),
  handler: async (ctx, args) => {
    const folder = await requireFolder(ctx, args.folderId);
    return await ctx.db.insert("pages", { folderId: folder._id, title: args.title });
  },
});

export const get = query({
  args: { pageId: v.id("pages") },
  handler: async (ctx, args) => {
    return await visiblePage(ctx, args.pageId);
  },
});

export const list = query({
  args: { folderId: v.id("folders") },
  handler: async (ctx, args) => {
    return await visiblePages(ctx, args.folderId);
  },
});

export const newest = query({
  args: { count: v.number() },
  handler: async (ctx, args) => {
    const found: Doc<"pages">[] = [];
    const pages = ctx.db
      .query("pages")
      .withIndex("by_trashedAt", (q) => q.eq("trashedAt", undefined))
      .order("desc");
    for await (const page of pages) {
      if ((await visibleFolder(ctx, page.folderId)) !== null) {
        found.push(page);
      }
      if (found.length >= args.count) {
        break;
      }
    }
    return found;
  },
});

export const rename = mutation({
  args: { pageId: v.id("pages"), title: v.string() },
  returns: v.null(),
  handler: async (ctx, args) => {
    const page = await requirePage(ctx, args.pageId);
    await ctx.db.patch(page._id, { title: args.title });
    return null;
  },
});

export const move = mutation({
  args: { pageId: v.id("pages"), folderId: v.id("folders") },
  returns: v.null(),
  handler: async (ctx, args) => {
    const page = await requirePage(ctx, args.pageId);
    const folder = await requireFolder(ctx, args.folderId);
    await ctx.db.patch(page._id, { folderId: folder._id });
    return null;
  },
});

export const trash = mutation({
  args: { pageId: v.id("pages") },
  returns: v.null(),
  handler: async (ctx, args) => {
    const page = await requirePage(ctx, args.pageId);
    await ctx.db.patch(page._id, { trashedAt: Date.now() });
    return null;
  },
});
