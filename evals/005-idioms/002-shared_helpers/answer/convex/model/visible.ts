/** What users see: the one place that knows about the trash. */
import type { Doc, Id } from "../_generated/dataModel";
import type { QueryCtx } from "../_generated/server";

export async function visibleFolder(ctx: QueryCtx, folderId: Id<"folders">): Promise<Doc<"folders"> | null> {
  const folder = await ctx.db.get(folderId);
  return folder !== null && folder.trashedAt === undefined ? folder : null;
}

export async function visiblePage(ctx: QueryCtx, pageId: Id<"pages">): Promise<Doc<"pages"> | null> {
  const page = await ctx.db.get(pageId);
  if (page === null || page.trashedAt !== undefined) {
    return null;
  }
  return (await visibleFolder(ctx, page.folderId)) === null ? null : page;
}

/** The visible pages of a folder, the oldest first. */
export async function visiblePages(ctx: QueryCtx, folderId: Id<"folders">): Promise<Doc<"pages">[]> {
  if ((await visibleFolder(ctx, folderId)) === null) {
    return [];
  }
  return await ctx.db
    .query("pages")
    .withIndex("by_folderId_and_trashedAt", (q) => q.eq("folderId", folderId).eq("trashedAt", undefined))
    .collect();
}

export async function requireFolder(ctx: QueryCtx, folderId: Id<"folders">): Promise<Doc<"folders">> {
  const folder = await visibleFolder(ctx, folderId);
  if (folder === null) {
    throw new Error("No such folder");
  }
  return folder;
}

export async function requirePage(ctx: QueryCtx, pageId: Id<"pages">): Promise<Doc<"pages">> {
  const page = await visiblePage(ctx, pageId);
  if (page === null) {
    throw new Error("No such page");
  }
  return page;
}
