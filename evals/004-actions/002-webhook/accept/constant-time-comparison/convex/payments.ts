import { v } from "convex/values";
import { internalMutation, internalQuery, query } from "./_generated/server";

export const paid = query({
  args: { shop: v.string(), order: v.string() },
  handler: async (ctx, { shop, order }) => {
    const ofShop = await ctx.db.query("payments").withIndex("shop_event", (q) => q.eq("shop", shop)).collect();
    return ofShop.filter((payment) => payment.order === order).reduce((sum, { cents }) => sum + cents, 0);
  },
});

export const secret = internalQuery({
  args: { shop: v.string() },
  handler: async (ctx, { shop }) => (await ctx.db.query("shops").filter((q) => q.eq(q.field("name"), shop)).first())?.secret,
});

export const storeOnce = internalMutation({
  args: { shop: v.string(), eventId: v.string(), order: v.string(), cents: v.number() },
  handler: async (ctx, { shop, eventId, order, cents }): Promise<boolean> => {
    const [known] = await ctx.db
      .query("payments")
      .withIndex("shop_event", (q) => q.eq("shop", shop).eq("eventId", eventId))
      .take(1);
    if (known) return false;
    await ctx.db.insert("payments", { shop, eventId, order, cents });
    return true;
  },
});
