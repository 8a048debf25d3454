import { v } from "convex/values";
import { mutation, query } from "./_generated/server";

export const create = mutation({
  args: { slug: v.string(), url: v.string() },
  returns: v.boolean(),
  handler: async (ctx, args) => {
    const existing = await ctx.db
      .query("links")
      .withIndex("by_slug", (q) => q.eq("slug", args.slug))
      .unique();
    if (existing !== null) {
      return false;
    }
    await ctx.db.insert("links", { slug: args.slug, url: args.url, clicks: 0 });
    return true;
  },
});

export const newest = query({
  args: { limit: v.number() },
  returns: v.array(v.object({ slug: v.string(), url: v.string(), clicks: v.number() })),
  handler: async (ctx, args) => {
    const links = await ctx.db.query("links").order("desc").take(args.limit);
    return links.map(({ slug, url, clicks }) => ({ slug, url, clicks }));
  },
});

export const remove = mutation({
  args: { slug: v.string() },
  returns: v.boolean(),
  handler: async (ctx, args) => {
    const link = await ctx.db
      .query("links")
      .withIndex("by_slug", (q) => q.eq("slug", args.slug))
      .unique();
    if (link === null) {
      return false;
    }
    await ctx.db.delete("links", link._id);
    return true;
  },
});

/** Counts a click; returns where it leads. */
export const click = mutation({
  args: { slug: v.string() },
  returns: v.union(v.string(), v.null()),
  handler: async (ctx, args) => {
    const link = await ctx.db
      .query("links")
      .withIndex("by_slug", (q) => q.eq("slug", args.slug))
      .unique();
    if (link === null) {
      return null;
    }
    await ctx.db.patch("links", link._id, { clicks: link.clicks + 1 });
    return link.url;
  },
});
