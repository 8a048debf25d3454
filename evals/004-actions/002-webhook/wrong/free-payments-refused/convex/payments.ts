import { v } from "convex/values";
import { internalMutation, query } from "./_generated/server";

export const paid = query({
  args: { shop: v.string(), order: v.string() },
  returns: v.number(),
  handler: async (ctx, { shop, order }) => {
    const payments = await ctx.db
      .query("payments")
      .withIndex("by_shop_and_order", (q) =>
        q.eq("shop", shop).eq("order", order),
      )
      .collect();
    return payments.reduce((sum, payment) => sum + payment.cents, 0);
  },
});

/** Stores the payment unless this event of this shop is stored already. */
export const record = internalMutation({
  args: {
    shop: v.string(),
    eventId: v.string(),
    order: v.string(),
    cents: v.number(),
  },
  returns: v.null(),
  handler: async (ctx, payment) => {
    const known = await ctx.db
      .query("payments")
      .withIndex("by_shop_and_eventId", (q) =>
        q.eq("shop", payment.shop).eq("eventId", payment.eventId),
      )
      .first();
    if (known === null) {
      await ctx.db.insert("payments", payment);
    }
    return null;
  },
});
