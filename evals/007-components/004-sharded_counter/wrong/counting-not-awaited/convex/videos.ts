import { ShardedCounter } from "@convex-dev/sharded-counter";
import { v } from "convex/values";
import { components } from "./_generated/api";
import type { Id } from "./_generated/dataModel";
import { mutation, query, type QueryCtx } from "./_generated/server";

const counter = new ShardedCounter(components.shardedCounter);
const viewsOf = (videoId: Id<"videos">) => counter.for(`views:${videoId}`);
const likesOf = (videoId: Id<"videos">) => counter.for(`likes:${videoId}`);

async function requireVideo(ctx: QueryCtx, videoId: Id<"videos">) {
  if ((await ctx.db.get(videoId)) === null) {
    throw new Error("There is no such video");
  }
}

async function findLike(ctx: QueryCtx, videoId: Id<"videos">, user: string) {
  return await ctx.db
    .query("likes")
    .withIndex("by_video_and_user", (q) => q.eq("videoId", videoId).eq("user", user))
    .unique();
}

export const watched = mutation({
  args: { videoId: v.id("videos") },
  returns: v.null(),
  handler: async (ctx, args) => {
    await requireVideo(ctx, args.videoId);
    viewsOf(args.videoId).inc(ctx);
    return null;
  },
});

export const like = mutation({
  args: { videoId: v.id("videos"), user: v.string() },
  returns: v.boolean(),
  handler: async (ctx, args) => {
    await requireVideo(ctx, args.videoId);
    if ((await findLike(ctx, args.videoId, args.user)) !== null) {
      return false;
    }
    await ctx.db.insert("likes", args);
    await likesOf(args.videoId).inc(ctx);
    return true;
  },
});

export const unlike = mutation({
  args: { videoId: v.id("videos"), user: v.string() },
  returns: v.boolean(),
  handler: async (ctx, args) => {
    const existing = await findLike(ctx, args.videoId, args.user);
    if (existing === null) {
      return false;
    }
    await ctx.db.delete(existing._id);
    await likesOf(args.videoId).dec(ctx);
    return true;
  },
});

export const resetViews = mutation({
  args: { videoId: v.id("videos") },
  returns: v.null(),
  handler: async (ctx, args) => {
    await viewsOf(args.videoId).reset(ctx);
    return null;
  },
});

export const numbers = query({
  args: { videoId: v.id("videos") },
  returns: v.union(v.object({ views: v.number(), likes: v.number() }), v.null()),
  handler: async (ctx, args) => {
    if ((await ctx.db.get(args.videoId)) === null) {
      return null;
    }
    return {
      views: await viewsOf(args.videoId).count(ctx),
      likes: await likesOf(args.videoId).count(ctx),
    };
  },
});
