import { v } from "convex/values";
import { mutation, query } from "./_generated/server";

export const add = mutation({
  args: { name: v.string(), amount: v.number() },
  returns: v.number(),
  handler: async (ctx, { name, amount }) => {
    const count = await ctx.db
      .query("counts")
      .withIndex("by_name", (q) => q.eq("name", name))
      .unique();
    const value = (count?.value ?? 0) + amount;
    if (count) await ctx.db.patch(count._id, { value });
    else await ctx.db.insert("counts", { name, value });
    return value;
  },
});

export const read = query({
  args: { name: v.string() },
  returns: v.number(),
  handler: async (ctx, { name }) => {
    const count = await ctx.db
      .query("counts")
      .withIndex("by_name", (q) => q.eq("name", name))
      .unique();
    return count?.value ?? 0;
  },
});
