import { ConvexError, v } from "convex/values";
import type { Id } from "./_generated/dataModel";
import { mutation, query, type QueryCtx } from "./_generated/server";
import { likes, views } from "./model/counters";

const videoId = v.id("videos");
const ofUser = { videoId, user: v.string() };

const exists = async ({ db }: QueryCtx, id: Id<"videos">) => (await db.get("videos", id)) !== null;

const findLike = ({ db }: QueryCtx, { videoId, user }: { videoId: Id<"videos">; user: string }) =>
  db
    .query("likes")
    .withIndex("user", (q) => q.eq("user", user).eq("videoId", videoId))
    .first();

export const numbers = query({
  args: { videoId },
  handler: async (ctx, { videoId }) => {
    const [found, viewCount, likeCount] = await Promise.all([exists(ctx, videoId), views.count(ctx, videoId), likes.count(ctx, videoId)]);
    return found ? { views: viewCount, likes: likeCount } : null;
  },
});

export const watched = mutation({
  args: { videoId },
  handler: async (ctx, { videoId }) => {
    await views.add(ctx, videoId);
    if (!(await exists(ctx, videoId))) throw new ConvexError("no video");
    return null;
  },
});

export const like = mutation({
  args: ofUser,
  handler: async (ctx, args) => {
    if (!(await exists(ctx, args.videoId))) throw new ConvexError("no video");
    if (await findLike(ctx, args)) return false;
    await Promise.all([ctx.db.insert("likes", args), likes.add(ctx, args.videoId, 1)]);
    return true;
  },
});

export const unlike = mutation({
  args: ofUser,
  handler: async (ctx, args) => {
    const found = await findLike(ctx, args);
    if (found) {
      await likes.subtract(ctx, args.videoId, 1);
      await ctx.db.delete("likes", found._id);
    }
    return found !== null;
  },
});

export const resetViews = mutation({
  args: { videoId },
  handler: async (ctx, { videoId }) => {
    await views.subtract(ctx, videoId, await views.count(ctx, videoId));
  },
});
