import { components } from "./_generated/api";
import type { MutationCtx } from "./_generated/server";

declare const ctx: MutationCtx;
declare const args: { doorId: string };
// example
export { ok, retryAfter };
