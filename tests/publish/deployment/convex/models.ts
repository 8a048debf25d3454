import { paginationOptsValidator } from "convex/server";
import { v } from "convex/values";
import { query } from "./_generated/server";

export const listModels = query({
  args: { paginationOpts: paginationOptsValidator },
  handler: async (ctx, { paginationOpts }) => await ctx.db.query("models").order("desc").paginate(paginationOpts),
});

export const getBySlug = query({
  args: { slug: v.string() },
  handler: async (ctx, { slug }) => {
    const bySlug = ctx.db.query("models").withIndex("by_slug", (q) => q.eq("slug", slug));
    return await bySlug.unique();
  },
});
