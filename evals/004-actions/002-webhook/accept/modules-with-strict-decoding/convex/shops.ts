import { v } from "convex/values";
import { internalQuery } from "./_generated/server";

export const secretOf = internalQuery({
  args: { name: v.string() },
  returns: v.union(v.string(), v.null()),
  handler: async (ctx, { name }) => {
    const shop = await ctx.db
      .query("shops")
      .withIndex("by_name", (q) => q.eq("name", name))
      .unique();
    return shop?.secret ?? null;
  },
});
