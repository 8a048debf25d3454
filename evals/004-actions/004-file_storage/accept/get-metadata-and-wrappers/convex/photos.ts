import { v } from "convex/values";
import { mutation, query, type MutationCtx } from "./_generated/server";
import type { Doc, Id } from "./_generated/dataModel";

async function makeUrl({ storage }: MutationCtx): Promise<string> {
  return storage.generateUploadUrl();
}

export const uploadUrl = mutation(makeUrl);

type Listed = { _id: Id<"photos">; caption: string; contentType: string | null; size: number; url: string };

export const list = query({
  args: { album: v.string() },
  async handler({ db, storage }, { album }) {
    const listed: Listed[] = [];
    for await (const photo of db.query("photos").withIndex("albums", (q) => q.eq("album", album)).order("asc")) {
      const metadata = await storage.getMetadata(photo.fileId);
      if (metadata === null) continue;
      const url = (await storage.getUrl(photo.fileId)) as string;
      listed.unshift({ _id: photo._id, caption: photo.caption, contentType: metadata.contentType, size: metadata.size, url });
    }
    return listed;
  },
});

export const record = mutation({
  args: { album: v.string(), caption: v.string(), fileId: v.id("_storage") },
  async handler({ db, storage }, { album, caption, fileId }) {
    const metadata = await storage.getMetadata(fileId);
    if (metadata === null) throw new Error("missing");
    const earlier: Doc<"photos">[] = await db.query("photos").withIndex("files", (q) => q.eq("fileId", fileId)).take(1);
    if (earlier.length) throw new Error("duplicate");
    const [kind] = (metadata.contentType ?? "").split("/", 2);
    if (kind !== "image" || metadata.size > 100 * 1000) {
      await storage.delete(fileId);
      return null;
    }
    return await db.insert("photos", { album, caption, fileId });
  },
});

export const remove = mutation({
  args: { photoId: v.id("photos") },
  async handler({ db, storage }, { photoId }) {
    const photo = await db.get("photos", photoId);
    if (photo) {
      await db.delete("photos", photoId);
      try {
        await storage.delete(photo.fileId);
      } catch {
        // It was gone already.
      }
    }
    return photo !== null;
  },
});
