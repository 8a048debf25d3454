import { v, type Infer } from "convex/values";
import type { Doc } from "./_generated/dataModel";
import { mutation, query, type QueryCtx } from "./_generated/server";

const MAX_PHOTO_BYTES = 100_000;

const listedPhoto = v.object({
  _id: v.id("photos"),
  caption: v.string(),
  contentType: v.string(),
  size: v.number(),
  url: v.string(),
});
type ListedPhoto = Infer<typeof listedPhoto>;

function isPhoto(file: { contentType?: string; size: number }): boolean {
  return (
    file.contentType !== undefined &&
    file.contentType.startsWith("image/") &&
    file.size <= MAX_PHOTO_BYTES
  );
}

export const uploadUrl = mutation({
  args: {},
  returns: v.string(),
  handler: async (ctx) => await ctx.storage.generateUploadUrl(),
});

export const record = mutation({
  args: {
    fileId: v.id("_storage"),
    album: v.string(),
    caption: v.string(),
  },
  returns: v.union(v.id("photos"), v.null()),
  handler: async (ctx, { fileId, album, caption }) => {
    const file = await ctx.db.system.get("_storage", fileId);
    if (file === null) {
      throw new Error("There is no such file");
    }
    const recorded = await ctx.db
      .query("photos")
      .withIndex("by_fileId", (q) => q.eq("fileId", fileId))
      .first();
    if (recorded !== null) {
      throw new Error("This file has already been recorded");
    }

    if (!isPhoto(file)) {
      // No error here: it would roll back the deletion.
      await ctx.storage.delete(fileId);
      return null;
    }
    return await ctx.db.insert("photos", { album, caption, fileId });
  },
});

/** The photo with what the storage knows of its file; null without a file. */
async function withFile(
  ctx: QueryCtx,
  { _id, caption, fileId }: Doc<"photos">,
): Promise<ListedPhoto | null> {
  const [file, url] = await Promise.all([
    ctx.db.system.get("_storage", fileId),
    ctx.storage.getUrl(fileId),
  ]);
  if (file === null || url === null) {
    return null;
  }
  const { contentType = "", size } = file;
  return { _id, caption, contentType, size, url };
}

export const list = query({
  args: { album: v.string() },
  returns: v.array(listedPhoto),
  handler: async (ctx, { album }) => {
    const photos = await ctx.db
      .query("photos")
      .withIndex("by_album", (q) => q.eq("album", album))
      .order("desc")
      .collect();
    const listed = await Promise.all(
      photos.map((photo) => withFile(ctx, photo)),
    );
    return listed.filter((photo) => photo !== null);
  },
});

export const remove = mutation({
  args: { photoId: v.id("photos") },
  returns: v.boolean(),
  handler: async (ctx, { photoId }) => {
    const photo = await ctx.db.get("photos", photoId);
    if (photo === null) {
      return false;
    }
    const file = await ctx.db.system.get("_storage", photo.fileId);
    if (file !== null) {
      await ctx.storage.delete(photo.fileId);
    }
    await ctx.db.delete("photos", photoId);
    return true;
  },
});
