import { v } from "convex/values";
import type { Doc } from "./_generated/dataModel";
import {
  internalMutation,
  internalQuery,
  type QueryCtx,
} from "./_generated/server";

const linkShape = v.object({
  slug: v.string(),
  url: v.string(),
  clicks: v.number(),
});

function present({ slug, url, clicks }: Doc<"links">) {
  return { slug, url, clicks };
}

async function findBySlug(ctx: QueryCtx, slug: string) {
  return await ctx.db
    .query("links")
    .withIndex("by_slug", (q) => q.eq("slug", slug))
    .unique();
}

/** Stores a new link; null if the slug is taken. */
export const create = internalMutation({
  args: { slug: v.string(), url: v.string() },
  returns: v.union(linkShape, v.null()),
  handler: async (ctx, { slug, url }) => {
    // Look-up and insert share one transaction, so no slug is given away twice.
    if ((await findBySlug(ctx, slug)) !== null) {
      return null;
    }
    const link = { slug, url, clicks: 0 };
    await ctx.db.insert("links", link);
    return link;
  },
});

export const newest = internalQuery({
  args: { limit: v.number() },
  returns: v.array(linkShape),
  handler: async (ctx, { limit }) => {
    const links = await ctx.db.query("links").order("desc").take(limit);
    return links.map(present);
  },
});

/** Deletes a link and says whether there was one. */
export const remove = internalMutation({
  args: { slug: v.string() },
  returns: v.boolean(),
  handler: async (ctx, { slug }) => {
    const link = await findBySlug(ctx, slug);
    if (link === null) {
      return false;
    }
    await ctx.db.delete("links", link._id);
    return true;
  },
});

/** Counts a click and gives the address to go to; null if there is no such link. */
export const click = internalMutation({
  args: { slug: v.string() },
  returns: v.union(v.string(), v.null()),
  handler: async (ctx, { slug }) => {
    const link = await findBySlug(ctx, slug);
    if (link === null) {
      return null;
    }
    await ctx.db.patch("links", link._id, { clicks: link.clicks + 1 });
    return link.url;
  },
});
