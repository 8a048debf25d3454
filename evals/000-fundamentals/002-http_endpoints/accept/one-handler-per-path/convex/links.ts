import { v } from "convex/values";
import { internalMutation, internalQuery, type QueryCtx } from "./_generated/server";

const bySlug = (ctx: QueryCtx, slug: string) =>
  ctx.db
    .query("links")
    .withIndex("slug", (q) => q.eq("slug", slug))
    .first();

export const page = internalQuery({
  args: { count: v.number() },
  handler: async (ctx, { count }) => {
    const links = [];
    for await (const { slug, url, clicks } of ctx.db.query("links").order("desc")) {
      links.push({ clicks, slug, url });
      if (links.length === count) break;
    }
    return links;
  },
});

/** One mutation for all that happens to a link; undefined where it cannot happen. */
export const change = internalMutation({
  args: {
    slug: v.string(),
    what: v.union(
      v.object({ kind: v.literal("add"), url: v.string() }),
      v.object({ kind: v.literal("remove") }),
      v.object({ kind: v.literal("click") }),
    ),
  },
  handler: async (ctx, { slug, what }) => {
    const link = await bySlug(ctx, slug);
    if (what.kind === "add") {
      if (link) return null;
      await ctx.db.insert("links", { slug, url: what.url, clicks: 0 });
      return what.url;
    }
    if (!link) return null;
    if (what.kind === "remove") await ctx.db.delete(link._id);
    else await ctx.db.replace(link._id, { slug, url: link.url, clicks: link.clicks + 1 });
    return link.url;
  },
});
