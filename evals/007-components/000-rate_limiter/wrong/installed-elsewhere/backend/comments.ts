import { v } from "convex/values";
import { mutation, query, type QueryCtx } from "./_generated/server";

const EACH = 600_000;

async function bucketOf(ctx: QueryCtx, author: string) {
  const bucket = await ctx.db.query("buckets").withIndex("by_author", (q) => q.eq("author", author)).unique();
  const now = Date.now();
  const tokens = bucket ? Math.min(3, bucket.tokens + (now - bucket.at) / EACH) : 3;
  return { bucket, now, tokens };
}

export const post = mutation({
  args: { author: v.string(), text: v.string() },
  handler: async (ctx, args) => {
    if (args.text === "") throw new Error("A comment must not be empty");
    const { bucket, now, tokens } = await bucketOf(ctx, args.author);
    if (tokens < 1) return { posted: false as const, retryAfter: (1 - tokens) * EACH };
    if (bucket) await ctx.db.patch(bucket._id, { tokens: tokens - 1, at: now });
    else await ctx.db.insert("buckets", { author: args.author, tokens: tokens - 1, at: now });
    await ctx.db.insert("comments", args);
    return { posted: true as const };
  },
});

export const canPost = query({
  args: { author: v.string() },
  handler: async (ctx, { author }) => (await bucketOf(ctx, author)).tokens >= 1,
});
