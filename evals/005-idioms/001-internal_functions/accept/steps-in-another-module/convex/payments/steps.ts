import { ConvexError, v } from "convex/values";
import { internalMutation, internalQuery } from "../_generated/server";
import { increase } from "../model/credits";

export const prepare = internalQuery({
  args: { cardId: v.id("cards") },
  handler: async ({ db }, { cardId }) => {
    const [shop] = await db.query("shop").take(1);
    if (!shop) throw new ConvexError("NO_SHOP");
    if (!(await db.get("cards", cardId))) throw new ConvexError("NO_CARD");
    return shop;
  },
});

export const finish = internalMutation({
  args: { receipt: v.string(), credits: v.number(), cardId: v.id("cards") },
  handler: async (ctx, payment) => {
    const known = ctx.db.query("payments").withIndex("receipt", (q) => q.eq("receipt", payment.receipt));
    for await (const _ of known) throw new ConvexError({ code: "USED", receipt: payment.receipt });
    const total = await increase(ctx, payment.cardId, payment.credits);
    await ctx.db.insert("payments", payment);
    return total;
  },
});
