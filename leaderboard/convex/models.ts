import { paginationOptsValidator } from "convex/server";
import { v } from "convex/values";
import { query } from "./_generated/server";

/** On one page. */
const MOST_LISTED = 300;

/** A page of models, newest first. */
export const listModels = query({
  args: { paginationOpts: paginationOptsValidator },
  handler: async (ctx, { paginationOpts }) => {
    const numItems = Math.min(paginationOpts.numItems, MOST_LISTED);
    return await ctx.db
      .query("models")
      .order("desc")
      .paginate({ ...paginationOpts, numItems });
  },
});

export const getBySlug = query({
  args: { slug: v.string() },
  handler: async (ctx, { slug }) =>
    await ctx.db
      .query("models")
      .withIndex("by_slug", (q) => q.eq("slug", slug))
      .unique(),
});
