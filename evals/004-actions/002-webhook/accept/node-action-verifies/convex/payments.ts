import { v } from "convex/values";
import { internalMutation, internalQuery, query } from "./_generated/server";
import schema from "./schema";

export const paid = query({
  args: { order: v.string(), shop: v.string() },
  handler: async ({ db }, { order, shop }) => {
    let cents = 0;
    for await (const payment of db.query("payments").withIndex("order", (q) => q.eq("order", order).eq("shop", shop))) {
      cents += payment.cents;
    }
    return cents;
  },
});

export const shopByName = internalQuery({
  args: { name: v.string() },
  handler: ({ db }, { name }) => db.query("shops").withIndex("name", (q) => q.eq("name", name)).first(),
});

export const store = internalMutation({
  args: { payment: schema.tables.payments.validator },
  handler: async ({ db }, { payment }) => {
    const earlier = db.query("payments").withIndex("event", (q) => q.eq("eventId", payment.eventId).eq("shop", payment.shop));
    if ((await earlier.first()) === null) await db.insert("payments", payment);
  },
});
