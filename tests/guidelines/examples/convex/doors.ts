import { MINUTE, RateLimiter } from "@convex-dev/rate-limiter";
import { components } from "./_generated/api";
import type { MutationCtx } from "./_generated/server";

export async function knock(ctx: MutationCtx, args: { doorId: string }): Promise<number | null> {
  // example
  return ok ? null : retryAfter;
}
