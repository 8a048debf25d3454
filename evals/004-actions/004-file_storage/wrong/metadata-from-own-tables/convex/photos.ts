import { v } from "convex/values";
import { mutation, query } from "./_generated/server";

const MAX_BYTES = 100_000;

export const uploadUrl = mutation({
  args: {},
  returns: v.string(),
  handler: async (ctx) => {
    return await ctx.storage.generateUploadUrl();
  },
});

export const record = mutation({
  args: { fileId: v.id("_storage"), album: v.string(), caption: v.string() },
  returns: v.union(v.id("photos"), v.null()),
  handler: async (ctx, args) => {
    const file = await ctx.db.get(args.fileId);
    if (file === null) {
      throw new Error("There is no such file");
    }
    const recorded = await ctx.db
      .query("photos")
      .withIndex("by_file", (q) => q.eq("fileId", args.fileId))
      .first();
    if (recorded !== null) {
      throw new Error("The file has already been recorded");
    }
    if (!file.contentType?.startsWith("image/") || file.size > MAX_BYTES) {
      // Throwing here would bring the file back.
      await ctx.storage.delete(args.fileId);
      return null;
    }
    return await ctx.db.insert("photos", args);
  },
});

export const list = query({
  args: { album: v.string() },
  returns: v.array(
    v.object({
      _id: v.id("photos"),
      caption: v.string(),
      contentType: v.string(),
      size: v.number(),
      url: v.string(),
    }),
  ),
  handler: async (ctx, args) => {
    const photos = await ctx.db
      .query("photos")
      .withIndex("by_album", (q) => q.eq("album", args.album))
      .order("desc")
      .collect();
    const found = [];
    for (const { _id, caption, fileId } of photos) {
      const file = await ctx.db.system.get("_storage", fileId);
      const url = await ctx.storage.getUrl(fileId);
      if (file === null || url === null) continue;
      found.push({ _id, caption, contentType: file.contentType ?? "", size: file.size, url });
    }
    return found;
  },
});

export const remove = mutation({
  args: { photoId: v.id("photos") },
  returns: v.boolean(),
  handler: async (ctx, args) => {
    const photo = await ctx.db.get("photos", args.photoId);
    if (photo === null) {
      return false;
    }
    if ((await ctx.db.system.get("_storage", photo.fileId)) !== null) {
      await ctx.storage.delete(photo.fileId);
    }
    await ctx.db.delete("photos", args.photoId);
    return true;
  },
});
