/**
 * Images by upload URL, step by step as in https://docs.convex.dev/file-storage/upload-files,
 * https://docs.convex.dev/file-storage/serve-files, https://docs.convex.dev/file-storage/delete-files and
 * https://docs.convex.dev/file-storage/file-metadata
 */
import { v } from "convex/values";
import { mutation, query } from "./_generated/server";

export const generateUploadUrl = mutation({
  args: {},
  returns: v.string(),
  handler: async (ctx) => await ctx.storage.generateUploadUrl(),
});

export const sendImage = mutation({
  args: { storageId: v.id("_storage"), author: v.string() },
  returns: v.id("messages"),
  handler: async (ctx, { storageId, author }) => await ctx.db.insert("messages", { body: storageId, author, format: "image" }),
});

export const list = query({
  args: {},
  handler: async (ctx) => {
    const messages = await ctx.db.query("messages").collect();
    return await Promise.all(messages.map(async (message) => ({ ...message, url: await ctx.storage.getUrl(message.body) })));
  },
});

export const metadata = query({
  args: { storageId: v.id("_storage") },
  handler: async (ctx, { storageId }) => await ctx.db.system.get(storageId),
});

export const deleteImage = mutation({
  args: { storageId: v.id("_storage") },
  returns: v.null(),
  handler: async (ctx, { storageId }) => {
    await ctx.storage.delete(storageId);
    return null;
  },
});
