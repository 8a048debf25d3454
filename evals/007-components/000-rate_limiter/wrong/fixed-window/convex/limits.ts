import { HOUR, RateLimiter } from "@convex-dev/rate-limiter";
import { components } from "./_generated/api";

/** How fast people may write. The key of `postComment` is the author. */
export const limits = new RateLimiter(components.rateLimiter, {
  postComment: {
    kind: "fixed window",
    rate: 3,
    period: HOUR / 2,
  },
});
