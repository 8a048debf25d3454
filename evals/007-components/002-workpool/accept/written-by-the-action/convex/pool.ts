import { Workpool } from "@convex-dev/workpool";
import { components } from "./_generated/api";

export const THREE_ATTEMPTS = { maxAttempts: 3, initialBackoffMs: 50, base: 2 };

export const pool = new Workpool(components.workpool, { maxParallelism: 2, logLevel: "ERROR" });
