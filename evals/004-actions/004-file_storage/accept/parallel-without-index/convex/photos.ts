import { ConvexError, v } from "convex/values";
import { mutation, query } from "./_generated/server";
import { described, discard, metadata } from "./files";
import schema from "./schema";

export const list = query({
  args: { album: v.string() },
  handler: async (ctx, { album }) => {
    const photos = await ctx.db.query("photos").order("desc").filter((q) => q.eq(q.field("album"), album)).collect();
    return (await Promise.all(photos.map((photo) => described(ctx, photo)))).flat();
  },
});

export const uploadUrl = mutation({ handler: ({ storage }) => storage.generateUploadUrl() });

export const record = mutation({
  args: schema.tables.photos.validator,
  handler: async (ctx, photo) => {
    for await (const { fileId } of ctx.db.query("photos")) {
      if (fileId === photo.fileId) throw new ConvexError({ code: "RECORDED" });
    }
    const file = await metadata(ctx, photo.fileId);
    if (!file) throw new ConvexError({ code: "MISSING" });
    const isPhoto = /^image\//.test(file.contentType ?? "") && file.size <= 1e5;
    if (isPhoto) return ctx.db.insert("photos", photo);
    await discard(ctx, file._id);
    return null;
  },
});

export const remove = mutation({
  args: { photoId: v.id("photos") },
  handler: async (ctx, { photoId }) => {
    const photo = await ctx.db.get(photoId);
    if (!photo) return false;
    await Promise.all([ctx.db.delete(photoId), discard(ctx, photo.fileId)]);
    return true;
  },
});
