import { v } from "convex/values";
import { internal } from "./_generated/api";
import type { Doc, Id } from "./_generated/dataModel";
import { internalQuery, type MutationCtx, type QueryCtx } from "./_generated/server";

export const folderIfVisible = internalQuery({
  args: { folderId: v.id("folders") },
  handler: async (ctx, { folderId }): Promise<Doc<"folders"> | null> => {
    const folder = await ctx.db.get(folderId);
    return folder && folder.trashedAt === undefined ? folder : null;
  },
});

export const pageIfVisible = internalQuery({
  args: { pageId: v.id("pages") },
  handler: async (ctx, { pageId }): Promise<Doc<"pages"> | null> => {
    const page = await ctx.db.get(pageId);
    if (!page || page.trashedAt !== undefined) return null;
    const folder: Doc<"folders"> | null = await ctx.runQuery(internal.rule.folderIfVisible, { folderId: page.folderId });
    return folder && page;
  },
});

export async function inFolder(ctx: QueryCtx, folderId: Id<"folders">): Promise<Doc<"pages">[]> {
  const folder: Doc<"folders"> | null = await ctx.runQuery(internal.rule.folderIfVisible, { folderId });
  if (!folder) return [];
  const pages = await ctx.db
    .query("pages")
    .withIndex("by_folderId_and_trashedAt", (q) => q.eq("folderId", folderId))
    .collect();
  return pages.filter((page) => page.trashedAt === undefined).sort((a, b) => a._creationTime - b._creationTime);
}

/** Runs `change` with the page if it is visible. */
export async function withPage(ctx: MutationCtx, pageId: Id<"pages">, change: (page: Doc<"pages">) => Promise<void>) {
  const page: Doc<"pages"> | null = await ctx.runQuery(internal.rule.pageIfVisible, { pageId });
  if (!page) throw new Error("Page not found");
  await change(page);
  return null;
}

/** Runs `change` with the folder if it is visible. */
export async function withFolder<T>(ctx: MutationCtx, folderId: Id<"folders">, change: (folder: Doc<"folders">) => Promise<T>): Promise<T> {
  const folder: Doc<"folders"> | null = await ctx.runQuery(internal.rule.folderIfVisible, { folderId });
  if (!folder) throw new Error("Folder not found");
  return await change(folder);
}
