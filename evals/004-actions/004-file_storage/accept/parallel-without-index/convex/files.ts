import type { Doc, Id } from "./_generated/dataModel";
import type { MutationCtx, QueryCtx } from "./_generated/server";

/** The file's metadata, found by its id. */
export function metadata(ctx: QueryCtx | MutationCtx, id: Id<"_storage">) {
  return ctx.db.system
    .query("_storage")
    .filter((q) => q.eq(q.field("_id"), id))
    .unique();
}

export async function discard(ctx: MutationCtx, id: Id<"_storage">): Promise<void> {
  if (await ctx.storage.getUrl(id)) await ctx.storage.delete(id);
}

export async function described(ctx: QueryCtx, photo: Doc<"photos">) {
  const [file, url] = await Promise.all([ctx.db.system.get(photo.fileId), ctx.storage.getUrl(photo.fileId)]);
  return file && url ? [{ _id: photo._id, caption: photo.caption, contentType: file.contentType!, size: file.size, url }] : [];
}
