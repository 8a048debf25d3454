import { ShardedCounter } from "@convex-dev/sharded-counter";
import { components } from "../_generated/api";
import type { Id } from "../_generated/dataModel";

export const views = new ShardedCounter<Id<"videos">>(components.views, { defaultShards: 32 });
export const likes = new ShardedCounter<Id<"videos">>(components.likes, { defaultShards: 4 });
