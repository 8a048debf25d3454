/** Pages as in https://docs.convex.dev/database/pagination, search as in https://docs.convex.dev/search/text-search */
import { paginationOptsValidator } from "convex/server";
import { v } from "convex/values";
import { mutation, query } from "./_generated/server";

export const newest = query({
  args: { paginationOpts: paginationOptsValidator },
  handler: async (ctx, { paginationOpts }) => await ctx.db.query("posts").order("desc").paginate(paginationOpts),
});

export const mostLiked = query({
  args: { author: v.string(), atLeast: v.number(), paginationOpts: paginationOptsValidator },
  handler: async (ctx, { author, atLeast, paginationOpts }) => {
    const results = await ctx.db
      .query("posts")
      .withIndex("by_author", (q) => q.eq("author", author).gte("likes", atLeast))
      .order("desc")
      .paginate(paginationOpts);
    return { ...results, page: results.page.map(({ body, likes }) => ({ body, likes })) };
  },
});

export const search = query({
  args: { text: v.string(), author: v.optional(v.string()) },
  handler: async (ctx, { text, author }) => {
    const found = await ctx.db
      .query("posts")
      .withSearchIndex("search_body", (q) => (author === undefined ? q.search("body", text) : q.search("body", text).eq("author", author)))
      .take(10);
    return found.map((post) => post.body);
  },
});

export const write = mutation({
  args: { author: v.string(), body: v.string() },
  handler: async (ctx, { author, body }) => await ctx.db.insert("posts", { author, body, likes: 0 }),
});

export const like = mutation({
  args: { id: v.id("posts") },
  handler: async (ctx, { id }) => {
    const post = await ctx.db.get(id);
    if (post === null) throw new Error(`No post ${id}`);
    await ctx.db.patch(id, { likes: post.likes + 1 });
    return post.likes + 1;
  },
});

export const remove = mutation({
  args: { id: v.id("posts") },
  handler: async (ctx, { id }) => await ctx.db.delete(id),
});
