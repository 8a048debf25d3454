import { v } from "convex/values";
import { query } from "./_generated/server";

export const listExports = query({
  args: { account: v.string() },
  handler: async (ctx, { account }) => {
    const results: { sha256: string; entryCount: number; url: string | null }[] = [];
    for await (const row of ctx.db.query("exports").order("desc")) {
      if (row.account !== account) continue;
      results.push({ sha256: row.sha256, entryCount: row.entryCount, url: await ctx.storage.getUrl(row.fileId) });
    }
    return results;
  },
});
