import { v } from "convex/values";
import { components } from "./_generated/api";
import type { Doc, Id } from "./_generated/dataModel";
import { mutation, query, type MutationCtx, type QueryCtx } from "./_generated/server";

const counting = components.shardedCounter.public;

type Counted = "view" | "like";
const name = (what: Counted, videoId: string) => JSON.stringify([what, videoId]);
const change = (ctx: MutationCtx, what: Counted, videoId: string, count: number) => ctx.runMutation(counting.add, { name: name(what, videoId), count });
const total = (ctx: QueryCtx, what: Counted, videoId: string) => ctx.runQuery(counting.count, { name: name(what, videoId) });

/** Makes the user like the video or not, and tells whether that changed anything. */
async function setLike(ctx: MutationCtx, like: Pick<Doc<"likes">, "videoId" | "user">, wanted: boolean) {
  const [existing] = await ctx.db
    .query("likes")
    .withIndex("by_video_and_user", (q) => q.eq("videoId", like.videoId).eq("user", like.user))
    .take(1);
  if (wanted === (existing !== undefined)) return false;
  if (existing) await ctx.db.delete(existing._id);
  else await ctx.db.insert("likes", like);
  await change(ctx, "like", like.videoId, wanted ? 1 : -1);
  return true;
}

async function mustExist(ctx: QueryCtx, videoId: Id<"videos">) {
  const video = await ctx.db.get(videoId);
  if (!video) throw new Error(`no video ${videoId}`);
}

export const watched = mutation({
  args: { videoId: v.id("videos") },
  handler: async (ctx, { videoId }) => {
    await mustExist(ctx, videoId);
    await change(ctx, "view", videoId, 1);
  },
});

export const like = mutation({
  args: { videoId: v.id("videos"), user: v.string() },
  handler: async (ctx, args) => {
    await mustExist(ctx, args.videoId);
    return await setLike(ctx, args, true);
  },
});

export const unlike = mutation({
  args: { videoId: v.id("videos"), user: v.string() },
  handler: async (ctx, args) => await setLike(ctx, args, false),
});

export const resetViews = mutation({
  args: { videoId: v.id("videos") },
  handler: async (ctx, { videoId }) => {
    await ctx.runMutation(counting.reset, { name: name("view", videoId) });
    return null;
  },
});

export const numbers = query({
  args: { videoId: v.id("videos") },
  handler: async (ctx, { videoId }) => {
    const video = await ctx.db.get(videoId);
    return video && { views: await total(ctx, "view", videoId), likes: await total(ctx, "like", videoId) };
  },
});
