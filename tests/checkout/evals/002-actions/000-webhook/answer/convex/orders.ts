import { v } from "convex/values";
import { internalMutation, internalQuery } from "./_generated/server";

export const store = internalMutation({
  args: { item: v.string(), count: v.number(), digest: v.string() },
  returns: v.id("orders"),
  handler: async (ctx, order) => await ctx.db.insert("orders", order),
});

export const counts = internalQuery({
  args: { item: v.string() },
  returns: v.array(v.number()),
  handler: async (ctx, { item }) => {
    const orders = ctx.db.query("orders").withIndex("by_item", (q) => q.eq("item", item));
    return (await orders.collect()).map((order) => order.count);
  },
});
