import { v } from "convex/values";
import { mutation, query } from "./_generated/server";

export const put = mutation({
  args: { item: v.string(), price: v.number() },
  returns: v.null(),
  handler: async (ctx, line) => {
    await ctx.db.insert("lines", line);
    return null;
  },
});

export const clear = mutation({
  args: {},
  returns: v.null(),
  handler: async (ctx) => {
    for await (const line of ctx.db.query("lines")) await ctx.db.delete(line._id);
    return null;
  },
});

export const total = query({
  args: {},
  returns: v.number(),
  handler: async (ctx) => {
    const lines = await ctx.db.query("lines").collect();
    return lines.reduce((sum, line) => sum + line.price, 0);
  },
});
