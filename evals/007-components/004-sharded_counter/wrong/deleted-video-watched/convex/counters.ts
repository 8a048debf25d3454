import { ShardedCounter } from "@convex-dev/sharded-counter";
import { components } from "./_generated/api";
import type { Id } from "./_generated/dataModel";

const counter = new ShardedCounter<string>(components.shardedCounter);

/** The counter of the views of a video. */
export function viewsOf(videoId: Id<"videos">) {
  return counter.for(`views:${videoId}`);
}

/** The counter of the likes of a video. */
export function likesOf(videoId: Id<"videos">) {
  return counter.for(`likes:${videoId}`);
}
