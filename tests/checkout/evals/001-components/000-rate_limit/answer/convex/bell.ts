import { HOUR, RateLimiter } from "@convex-dev/rate-limiter";
import { v } from "convex/values";
import { components } from "./_generated/api";
import { mutation } from "./_generated/server";

const limiter = new RateLimiter(components.rateLimiter, {
  ring: { kind: "fixed window", rate: 2, period: HOUR },
});

export const ring = mutation({
  args: { name: v.string() },
  returns: v.boolean(),
  handler: async (ctx, { name }) => {
    const { ok } = await limiter.limit(ctx, "ring", { key: name });
    if (ok) await ctx.db.insert("rings", { name });
    return ok;
  },
});
