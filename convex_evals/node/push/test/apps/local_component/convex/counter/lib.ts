import { v } from "convex/values";
import { mutation } from "./_generated/server";

export const increment = mutation({
  args: { name: v.string(), by: v.optional(v.number()) },
  returns: v.number(),
  handler: async (ctx, { name, by = 1 }) => {
    const row = await ctx.db
      .query("counts")
      .withIndex("by_name", (q) => q.eq("name", name))
      .unique();
    const value = (row?.value ?? 0) + by;
    if (row) await ctx.db.patch(row._id, { value });
    else await ctx.db.insert("counts", { name, value });
    return value;
  },
});
