import { paginationOptsValidator } from "convex/server";
import { ConvexError, v } from "convex/values";
import { internalMutation, mutation, query } from "./_generated/server";

export const create = mutation({
  args: { title: v.string(), slug: v.string(), tags: v.array(v.string()) },
  returns: v.id("notes"),
  handler: async (ctx, args) => {
    const taken = await ctx.db
      .query("notes")
      .withIndex("by_slug", (q) => q.eq("slug", args.slug))
      .first();
    if (taken) throw new ConvexError({ code: "slug_taken", slug: args.slug });
    return await ctx.db.insert("notes", args);
  },
});

export const bySlug = query({
  args: { slug: v.string() },
  handler: async (ctx, { slug }) => {
    return await ctx.db
      .query("notes")
      .withIndex("by_slug", (q) => q.eq("slug", slug))
      .first();
  },
});

export const list = query({
  args: { paginationOpts: paginationOptsValidator },
  handler: async (ctx, { paginationOpts }) => {
    return await ctx.db.query("notes").order("desc").paginate(paginationOpts);
  },
});

export const pin = internalMutation({
  args: { id: v.id("notes") },
  returns: v.null(),
  handler: async (ctx, { id }) => {
    await ctx.db.patch(id, { pinned: true });
    return null;
  },
});
