import { HOUR, RateLimiter } from "@convex-dev/rate-limiter";
import { v } from "convex/values";
import { components } from "./_generated/api";
import { mutation } from "./_generated/server";

const limiter = new RateLimiter(components.rateLimiter, { post: { kind: "fixed window", rate: 2, period: HOUR } });

export const post = mutation({
  args: { author: v.string() },
  returns: v.boolean(),
  handler: async (ctx, { author }) => (await limiter.limit(ctx, "post", { key: author })).ok,
});
