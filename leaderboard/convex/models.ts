import { v } from "convex/values";
import { query } from "./_generated/server";

const MOST_LISTED = 1000;

export const listModels = query({
  args: {},
  handler: async (ctx) => await ctx.db.query("models").take(MOST_LISTED),
});

export const getBySlug = query({
  args: { slug: v.string() },
  handler: async (ctx, { slug }) =>
    await ctx.db
      .query("models")
      .withIndex("by_slug", (q) => q.eq("slug", slug))
      .unique(),
});
