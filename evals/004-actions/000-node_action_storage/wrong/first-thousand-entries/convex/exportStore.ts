import { v } from "convex/values";
import { internalMutation, internalQuery } from "./_generated/server";

/** The amounts of the account's entries, in the order in which they were stored. */
export const entryAmounts = internalQuery({
  args: { account: v.string() },
  returns: v.array(v.number()),
  handler: async (ctx, { account }) => {
    const entries = await ctx.db
      .query("entries")
      .withIndex("by_account", (q) => q.eq("account", account))
      .order("asc")
      .take(1000);
    return entries.map((entry) => entry.cents);
  },
});

export const insertExport = internalMutation({
  args: {
    account: v.string(),
    fileId: v.id("_storage"),
    sha256: v.string(),
    entryCount: v.number(),
  },
  returns: v.id("exports"),
  handler: async (ctx, fields) => await ctx.db.insert("exports", fields),
});
