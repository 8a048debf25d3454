import { components } from "./_generated/api";
import type { DataModel, Id } from "./_generated/dataModel";
import type { QueryCtx } from "./_generated/server";

declare const ctx: QueryCtx;
declare const pondId: Id<"ponds">;
// example
export { small };
