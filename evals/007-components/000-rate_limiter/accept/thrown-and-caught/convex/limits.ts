import { isRateLimitError, RateLimiter } from "@convex-dev/rate-limiter";
import { components } from "./_generated/api";
import type { MutationCtx, QueryCtx } from "./_generated/server";

const perHour = 6;

const limiter = new RateLimiter(components.rateLimiter, {
  commentsOfAuthor: { kind: "token bucket", rate: perHour / 60, period: 60 * 1000, capacity: 3 },
});

/** Takes a token; when there is none, the milliseconds until there is one. */
export async function takeToken(ctx: MutationCtx, author: string): Promise<number | null> {
  try {
    await limiter.limit(ctx, "commentsOfAuthor", { key: author, throws: true });
    return null;
  } catch (error) {
    if (isRateLimitError(error)) return error.data.retryAfter;
    throw error;
  }
}

export async function hasToken(ctx: QueryCtx, author: string): Promise<boolean> {
  const { retryAfter } = await limiter.check(ctx, "commentsOfAuthor", { key: author });
  return !retryAfter;
}
