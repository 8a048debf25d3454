import { HOUR, RateLimiter } from "@convex-dev/rate-limiter";
import { v } from "convex/values";
import { components } from "./_generated/api";
import { mutation, query } from "./_generated/server";

const rateLimiter = new RateLimiter(components.rateLimiter, {
  post: { kind: "token bucket", rate: 6, period: HOUR, capacity: 3 },
});

export const post = mutation({
  args: { author: v.string(), text: v.string() },
  returns: v.union(
    v.object({ posted: v.literal(true) }),
    v.object({ posted: v.literal(false), retryAfter: v.number() }),
  ),
  handler: async (ctx, args) => {
    if (args.text === "") {
      throw new Error("A comment must not be empty");
    }
    await rateLimiter.limit(ctx, "post", { key: args.author, throws: true });
    await ctx.db.insert("comments", args);
    return { posted: true as const };
  },
});

export const canPost = query({
  args: { author: v.string() },
  returns: v.boolean(),
  handler: async (ctx, args) => {
    const { ok } = await rateLimiter.check(ctx, "post", { key: args.author });
    return ok;
  },
});
