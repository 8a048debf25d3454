import { MINUTE, RateLimiter } from "@convex-dev/rate-limiter";
import { components } from "./_generated/api";
import { mutation } from "./_generated/server";

const limiter = new RateLimiter(components.rateLimiter, {
  sends: { kind: "fixed window", rate: 2, period: MINUTE },
});

export const send = mutation({
  args: {},
  handler: async (ctx) => (await limiter.limit(ctx, "sends")).ok,
});
