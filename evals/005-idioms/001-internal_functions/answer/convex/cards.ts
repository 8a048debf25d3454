import { v } from "convex/values";
import { internal } from "./_generated/api";
import type { Id } from "./_generated/dataModel";
import { action, internalMutation, internalQuery, mutation, query, type MutationCtx } from "./_generated/server";

type Answer = { paid: true; credits: number } | { paid: false };

/** Adds credits to a card; returns how many it has then. */
async function addCredits(ctx: MutationCtx, cardId: Id<"cards">, credits: number): Promise<number> {
  const card = await ctx.db.get(cardId);
  if (card === null) {
    throw new Error("No such card");
  }
  const total = card.credits + credits;
  await ctx.db.patch(cardId, { credits: total });
  return total;
}

export const open = mutation({
  args: {},
  returns: v.id("cards"),
  handler: async (ctx) => {
    return await ctx.db.insert("cards", { credits: 0 });
  },
});

export const balance = query({
  args: { cardId: v.id("cards") },
  returns: v.union(v.number(), v.null()),
  handler: async (ctx, args) => {
    const card = await ctx.db.get(args.cardId);
    return card === null ? null : card.credits;
  },
});

export const topUp = action({
  args: { cardId: v.id("cards"), receipt: v.string() },
  returns: v.number(),
  handler: async (ctx, args): Promise<number> => {
    const { paymentUrl, apiKey } = await ctx.runQuery(internal.cards.shop, {});
    const response = await fetch(paymentUrl, {
      method: "POST",
      headers: { Authorization: `Bearer ${apiKey}`, "Content-Type": "application/json" },
      body: JSON.stringify({ receipt: args.receipt }),
    });
    if (response.status !== 200) {
      throw new Error("The payment provider does not answer");
    }
    const answer = (await response.json()) as Answer;
    if (!answer.paid) {
      throw new Error("This receipt is not paid");
    }
    return await ctx.runMutation(internal.cards.recordPayment, { ...args, credits: answer.credits });
  },
});

export const shop = internalQuery({
  args: {},
  returns: v.object({ paymentUrl: v.string(), apiKey: v.string() }),
  handler: async (ctx) => {
    const found = await ctx.db.query("shop").first();
    if (found === null) {
      throw new Error("The shop is not set up yet");
    }
    return { paymentUrl: found.paymentUrl, apiKey: found.apiKey };
  },
});

export const recordPayment = internalMutation({
  args: { cardId: v.id("cards"), receipt: v.string(), credits: v.number() },
  returns: v.number(),
  handler: async (ctx, args) => {
    const earlier = await ctx.db
      .query("payments")
      .withIndex("by_receipt", (q) => q.eq("receipt", args.receipt))
      .first();
    if (earlier !== null) {
      throw new Error("This receipt was used before");
    }
    await ctx.db.insert("payments", args);
    return await addCredits(ctx, args.cardId, args.credits);
  },
});

export const grant = internalMutation({
  args: { cardId: v.id("cards"), credits: v.number() },
  returns: v.number(),
  handler: async (ctx, args) => {
    if (!Number.isInteger(args.credits) || args.credits <= 0) {
      throw new Error("Credits must be a whole number greater than 0");
    }
    return await addCredits(ctx, args.cardId, args.credits);
  },
});
