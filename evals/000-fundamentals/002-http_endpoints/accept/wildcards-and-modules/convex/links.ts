import { ConvexError, v } from "convex/values";
import { internalMutation, internalQuery } from "./_generated/server";

function parsed(text: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(text)) as Record<string, unknown>;
  } catch {
    throw new ConvexError(400);
  }
}

/** Reads and stores a link; the data of its error is the status. */
export const add = internalMutation({
  args: { text: v.string() },
  handler: async (ctx, { text }) => {
    const { slug, url } = parsed(text);
    const valid = typeof slug === "string" && typeof url === "string" && /^[-a-z0-9]+$/.test(slug) && slug.length <= 40;
    if (!valid || !["http:", "https:"].some((scheme) => url.startsWith(`${scheme}//`) && url.length > `${scheme}//`.length)) throw new ConvexError(400);
    for (const character of url) if (character < "!" || character > "~") throw new ConvexError(400);
    const taken = await ctx.db
      .query("links")
      .withIndex("by_slug", (q) => q.eq("slug", slug))
      .take(1);
    if (taken.length > 0) throw new ConvexError(409);
    const link = { slug, url, clicks: 0 };
    await ctx.db.insert("links", link);
    return link;
  },
});

export const list = internalQuery({
  args: { limit: v.number() },
  handler: async (ctx, { limit }) => {
    const { page } = await ctx.db.query("links").order("desc").paginate({ numItems: limit, cursor: null });
    return page.map((link) => ({ url: link.url, slug: link.slug, clicks: link.clicks }));
  },
});

export const remove = internalMutation({
  args: { slug: v.string() },
  handler: async (ctx, { slug }) => {
    const links = await ctx.db
      .query("links")
      .withIndex("by_slug", (q) => q.eq("slug", slug))
      .collect();
    for (const link of links) await ctx.db.delete("links", link._id);
    return links.length > 0;
  },
});

export const click = internalMutation({
  args: { slug: v.string() },
  handler: async (ctx, { slug }) => {
    const link = await ctx.db
      .query("links")
      .withIndex("by_slug", (q) => q.eq("slug", slug))
      .unique();
    if (link !== null) await ctx.db.patch("links", link._id, { clicks: link.clicks + 1 });
    return link?.url ?? null;
  },
});
