import { ConvexError, v } from "convex/values";
import { internal } from "./_generated/api";
import { action, internalMutation, mutation, query } from "./_generated/server";
import { increase } from "./model/credits";

export const grant = internalMutation({
  args: { credits: v.number(), cardId: v.id("cards") },
  handler: (ctx, { cardId, credits }) => {
    if (!Number.isSafeInteger(credits) || credits < 1) throw new ConvexError("BAD_CREDITS");
    return increase(ctx, cardId, credits);
  },
});

export const topUp = action({
  args: { receipt: v.string(), cardId: v.id("cards") },
  handler: async (ctx, { cardId, receipt }): Promise<number> => {
    const shop = await ctx.runQuery(internal.payments.steps.prepare, { cardId });
    const headers = new Headers({ "content-type": "application/json" });
    headers.set("authorization", "Bearer " + shop.apiKey);
    const reply = await fetch(new Request(shop.paymentUrl, { method: "POST", headers, body: JSON.stringify({ receipt }) }));
    if (reply.status !== 200) throw new ConvexError({ code: "PROVIDER", status: reply.status });
    const { paid, credits }: { paid: boolean; credits?: number } = await reply.json();
    if (!paid || credits === undefined) throw new ConvexError("NOT_PAID");
    return await ctx.runMutation(internal.payments.steps.finish, { cardId, receipt, credits });
  },
});

export const balance = query({
  args: { cardId: v.id("cards") },
  handler: async ({ db }, { cardId }) => (await db.get("cards", cardId))?.credits ?? null,
});

export const open = mutation({ args: {}, handler: ({ db }) => db.insert("cards", { credits: 0 }) });
