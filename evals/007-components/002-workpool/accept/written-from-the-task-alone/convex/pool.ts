import { Workpool } from "@convex-dev/workpool";
import { components } from "./_generated/api";

/** All requests of the app go through this pool. */
export const pool = new Workpool(components.workpool, {
  maxParallelism: 2,
  retryActionsByDefault: true,
  defaultRetryBehavior: { maxAttempts: 3, initialBackoffMs: 50, base: 2 },
});
