import { ConvexError, v } from "convex/values";
import type { Doc, Id } from "./_generated/dataModel";
import { mutation, query, type QueryCtx } from "./_generated/server";
import { likesOf, viewsOf } from "./counters";

type Readable = Pick<QueryCtx, "db">;

async function requireVideo(
  ctx: Readable,
  videoId: Id<"videos">,
): Promise<Doc<"videos">> {
  const video = await ctx.db.get("videos", videoId);
  if (video === null) {
    throw new ConvexError("There is no such video.");
  }
  return video;
}

async function findLike(
  ctx: Readable,
  videoId: Id<"videos">,
  user: string,
): Promise<Doc<"likes"> | null> {
  return await ctx.db
    .query("likes")
    .withIndex("by_video_and_user", (q) =>
      q.eq("videoId", videoId).eq("user", user),
    )
    .first();
}

export const watched = mutation({
  args: { videoId: v.id("videos") },
  returns: v.null(),
  handler: async (ctx, { videoId }) => {
    await viewsOf(videoId).inc(ctx);
    return null;
  },
});

export const like = mutation({
  args: { videoId: v.id("videos"), user: v.string() },
  returns: v.boolean(),
  handler: async (ctx, { videoId, user }) => {
    await requireVideo(ctx, videoId);
    const existing = await findLike(ctx, videoId, user);
    if (existing !== null) {
      return false;
    }
    await ctx.db.insert("likes", { videoId, user });
    await likesOf(videoId).inc(ctx);
    return true;
  },
});

export const unlike = mutation({
  args: { videoId: v.id("videos"), user: v.string() },
  returns: v.boolean(),
  handler: async (ctx, { videoId, user }) => {
    const existing = await findLike(ctx, videoId, user);
    if (existing === null) {
      return false;
    }
    await ctx.db.delete("likes", existing._id);
    await likesOf(videoId).dec(ctx);
    return true;
  },
});

export const resetViews = mutation({
  args: { videoId: v.id("videos") },
  returns: v.null(),
  handler: async (ctx, { videoId }) => {
    await viewsOf(videoId).reset(ctx);
    return null;
  },
});

export const numbers = query({
  args: { videoId: v.id("videos") },
  returns: v.union(
    v.object({ views: v.number(), likes: v.number() }),
    v.null(),
  ),
  handler: async (ctx, { videoId }) => {
    const video = await ctx.db.get("videos", videoId);
    if (video === null) {
      return null;
    }
    const [views, likes] = await Promise.all([
      viewsOf(videoId).count(ctx),
      likesOf(videoId).count(ctx),
    ]);
    return { views, likes };
  },
});
