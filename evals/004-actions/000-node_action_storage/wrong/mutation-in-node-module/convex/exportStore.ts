import { paginationOptsValidator } from "convex/server";
import { v } from "convex/values";
import { internalQuery } from "./_generated/server";

/** One page of the account's entries, in the order in which they were stored. */
export const entriesPage = internalQuery({
  args: { account: v.string(), paginationOpts: paginationOptsValidator },
  handler: async (ctx, { account, paginationOpts }) => {
    const result = await ctx.db
      .query("entries")
      .withIndex("by_account", (q) => q.eq("account", account))
      .order("asc")
      .paginate(paginationOpts);
    return {
      cents: result.page.map((entry) => entry.cents),
      isDone: result.isDone,
      continueCursor: result.continueCursor,
    };
  },
});
