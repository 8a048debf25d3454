import { RateLimiter } from "@convex-dev/rate-limiter";
import { ConvexError, v } from "convex/values";
import { components } from "./_generated/api";
import { mutation, query } from "./_generated/server";

const limiter = new RateLimiter(components.postingLimits);
const config = { kind: "token bucket", rate: 6, period: 3_600_000, capacity: 3 } as const;
const bucketOf = (author: string) => ({ key: `author:${author}`, config });

export const canPost = query({
  args: { author: v.string() },
  handler: async (ctx, { author }) => (await limiter.check(ctx, "comment", bucketOf(author))).ok,
});

export const post = mutation({
  args: { author: v.string(), text: v.string() },
  handler: async (ctx, { author, text }) => {
    const status = await limiter.limit(ctx, "comment", bucketOf(author));
    if (text.length < 1) throw new ConvexError("empty");
    if (status.ok) {
      await ctx.db.insert("comments", { author, text });
      return { posted: true };
    }
    return { posted: false, retryAfter: status.retryAfter };
  },
});
