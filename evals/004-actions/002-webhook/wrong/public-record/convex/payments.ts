import { v } from "convex/values";
import { internalQuery, mutation, query } from "./_generated/server";

export const paid = query({
  args: { shop: v.string(), order: v.string() },
  returns: v.number(),
  handler: async (ctx, args) => {
    const payments = await ctx.db
      .query("payments")
      .withIndex("by_shop_and_order", (q) => q.eq("shop", args.shop).eq("order", args.order))
      .collect();
    return payments.reduce((sum, payment) => sum + payment.cents, 0);
  },
});

export const secretOf = internalQuery({
  args: { shop: v.string() },
  returns: v.union(v.string(), v.null()),
  handler: async (ctx, args) => {
    const shop = await ctx.db
      .query("shops")
      .withIndex("by_name", (q) => q.eq("name", args.shop))
      .unique();
    return shop?.secret ?? null;
  },
});

export const record = mutation({
  args: { shop: v.string(), eventId: v.string(), order: v.string(), cents: v.number() },
  returns: v.null(),
  handler: async (ctx, args) => {
    const known = await ctx.db
      .query("payments")
      .withIndex("by_shop_and_event_id", (q) => q.eq("shop", args.shop).eq("eventId", args.eventId))
      .unique();
    if (known === null) {
      await ctx.db.insert("payments", args);
    }
    return null;
  },
});
