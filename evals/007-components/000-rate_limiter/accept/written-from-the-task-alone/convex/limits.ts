import { HOUR, RateLimiter } from "@convex-dev/rate-limiter";
import { components } from "./_generated/api";

/** How fast people may write. The key of `postComment` is the author. */
export const limits = new RateLimiter(components.rateLimiter, {
  postComment: {
    kind: "token bucket",
    rate: 6,
    period: HOUR,
    capacity: 3,
  },
});
