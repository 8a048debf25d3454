import { v } from "convex/values";
import { internalMutation, internalQuery, query } from "./_generated/server";

export const listExports = query({
  args: { account: v.string() },
  handler: async (ctx, args) => {
    const found = await ctx.db
      .query("exports")
      .withIndex("by_account", (q) => q.eq("account", args.account))
      .collect();
    return await Promise.all(
      found.map(async ({ sha256, entryCount, fileId }) => ({
        sha256,
        entryCount,
        url: await ctx.storage.getUrl(fileId),
      })),
    );
  },
});

export const entriesOf = internalQuery({
  args: { account: v.string() },
  handler: async (ctx, args) => {
    return await ctx.db
      .query("entries")
      .withIndex("by_account", (q) => q.eq("account", args.account))
      .collect();
  },
});

export const recordExport = internalMutation({
  args: {
    account: v.string(),
    fileId: v.id("_storage"),
    sha256: v.string(),
    entryCount: v.number(),
  },
  handler: async (ctx, args) => {
    return await ctx.db.insert("exports", args);
  },
});
