import { ConvexError, v } from "convex/values";
import { mutation, query } from "./_generated/server";
import { contains, endOf, inPlace, required, wayTo } from "./model/tree";
import { folder } from "./schema";

const document = v.object({ _id: v.id("folders"), _creationTime: v.number(), ...folder });
const place = v.optional(v.id("folders"));

export const move = mutation({
  args: { folderId: v.id("folders"), parentId: place },
  handler: async (ctx, { folderId, parentId }) => {
    const moved = await required(ctx, folderId);
    if (parentId) await required(ctx, parentId);
    if (await contains(ctx, folderId, parentId)) throw new ConvexError("CYCLE");
    const { parentId: _, ...rest } = moved;
    const position = await endOf(ctx, parentId);
    await ctx.db.replace("folders", folderId, parentId ? { ...rest, parentId, position } : { ...rest, position });
  },
});

export const path = query({
  args: { folderId: v.id("folders") },
  returns: v.array(document),
  handler: (ctx, { folderId }) => wayTo(ctx, folderId),
});

export const children = query({
  args: { parentId: place },
  returns: v.array(document),
  handler: (ctx, { parentId }) => inPlace(ctx, parentId),
});

export const create = mutation({
  args: { parentId: place, name: v.string() },
  handler: async (ctx, { parentId, name }) => {
    if (parentId) await required(ctx, parentId);
    return await ctx.db.insert("folders", { name, position: await endOf(ctx, parentId), ...(parentId && { parentId }) });
  },
});
