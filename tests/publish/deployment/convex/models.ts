import { v } from "convex/values";
import { query } from "./_generated/server";

export const listModels = query({ args: {}, handler: async (ctx) => await ctx.db.query("models").collect() });

export const getBySlug = query({
  args: { slug: v.string() },
  handler: async (ctx, { slug }) => {
    const bySlug = ctx.db.query("models").withIndex("by_slug", (q) => q.eq("slug", slug));
    return await bySlug.unique();
  },
});
