import { v } from "convex/values";
import { query } from "./_generated/server";

const exportListing = v.object({
  sha256: v.string(),
  entryCount: v.number(),
  url: v.union(v.string(), v.null()),
});

export const listExports = query({
  args: { account: v.string() },
  returns: v.array(exportListing),
  handler: async (ctx, { account }) => {
    const newestFirst = await ctx.db
      .query("exports")
      .withIndex("by_account", (q) => q.eq("account", account))
      .order("desc")
      .collect();
    return await Promise.all(
      newestFirst.map(async ({ sha256, entryCount, fileId }) => ({
        sha256,
        entryCount,
        url: await ctx.storage.getUrl(fileId),
      })),
    );
  },
});
