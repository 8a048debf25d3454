import { v } from "convex/values";
import type { Doc, Id } from "./_generated/dataModel";
import { mutation, query, type QueryCtx } from "./_generated/server";
import schema from "./schema";

/** Where folders are: in another folder, or (undefined) at the top. */
type Place = Id<"folders"> | undefined;

const place = v.optional(v.id("folders"));

function foldersIn(ctx: QueryCtx, parentId: Place) {
  return ctx.db
    .query("folders")
    .withIndex("by_parentId_and_position", (q) => q.eq("parentId", parentId));
}

async function lastIn(
  ctx: QueryCtx,
  parentId: Place,
): Promise<Doc<"folders"> | null> {
  return await foldersIn(ctx, parentId).order("desc").first();
}

/** A position behind the folder, or the first one if there is none. */
function positionAfter(last: Doc<"folders"> | null): number {
  if (last === null) {
    return 0;
  }
  const next = Math.floor(last.position) + 1;
  // Beyond 2 ** 53, adding 1 makes no difference.
  return next > last.position
    ? next
    : last.position + Math.abs(last.position) * Number.EPSILON;
}

/** The folder and all folders above it, from the bottom to the top. */
async function folderAndAncestors(
  ctx: QueryCtx,
  folderId: Id<"folders">,
): Promise<Doc<"folders">[]> {
  const chain: Doc<"folders">[] = [];
  let nextId: Place = folderId;
  while (nextId !== undefined) {
    const folder: Doc<"folders"> | null = await ctx.db.get("folders", nextId);
    if (folder === null) {
      break;
    }
    chain.push(folder);
    nextId = folder.parentId;
  }
  return chain;
}

export const create = mutation({
  args: { name: v.string(), parentId: place },
  returns: v.id("folders"),
  handler: async (ctx, { name, parentId }) => {
    if (
      parentId !== undefined &&
      (await ctx.db.get("folders", parentId)) === null
    ) {
      throw new Error(`There is no folder ${parentId} to create a folder in`);
    }
    const position = positionAfter(await lastIn(ctx, parentId));
    return await ctx.db.insert("folders", { name, parentId, position });
  },
});

export const children = query({
  args: { parentId: place },
  returns: v.array(schema.doc("folders")),
  handler: async (ctx, { parentId }) =>
    await foldersIn(ctx, parentId).order("asc").collect(),
});

export const path = query({
  args: { folderId: v.id("folders") },
  returns: v.array(schema.doc("folders")),
  handler: async (ctx, { folderId }) => {
    const chain = await folderAndAncestors(ctx, folderId);
    return chain.reverse();
  },
});

export const move = mutation({
  args: { folderId: v.id("folders"), parentId: place },
  returns: v.null(),
  handler: async (ctx, { folderId, parentId }) => {
    const folder = await ctx.db.get("folders", folderId);
    if (folder === null) {
      throw new Error(`There is no folder ${folderId} to move`);
    }

    if (parentId !== undefined) {
      const parent = await ctx.db.get("folders", parentId);
      if (parent === null) {
        throw new Error(`There is no folder ${parentId} to move a folder into`);
      }
      const wayUp =
        parent.parentId === undefined
          ? []
          : await folderAndAncestors(ctx, parent.parentId);
      if (wayUp.some((ancestor) => ancestor._id === folderId)) {
        throw new Error("A folder cannot be moved into itself or below itself");
      }
    }

    const last = await lastIn(ctx, parentId);
    if (last?._id === folderId) {
      return null; // It is the last one in this place already.
    }
    // An explicit undefined removes `parentId`, which puts the folder at the top.
    await ctx.db.patch("folders", folderId, {
      parentId,
      position: positionAfter(last),
    });
    return null;
  },
});
