import { v, type Infer } from "convex/values";
import { internal } from "./_generated/api";
import { action, internalMutation, mutation, query, type QueryCtx } from "./_generated/server";

const attempt = v.object({ cardId: v.id("cards"), receipt: v.string() });

export const open = mutation({
  args: {},
  handler: async (ctx) => await ctx.db.insert("cards", { credits: 0 }),
});

export const balance = query({
  args: { cardId: v.id("cards") },
  handler: async (ctx, args) => {
    const card = await ctx.db.get(args.cardId);
    if (!card) return null;
    return card.credits;
  },
});

async function claimOf(ctx: QueryCtx, receipt: string) {
  return await ctx.db
    .query("claims")
    .withIndex("by_receipt", (q) => q.eq("receipt", receipt))
    .unique();
}

async function cardOf(ctx: QueryCtx, { cardId }: Pick<Infer<typeof attempt>, "cardId">) {
  const card = await ctx.db.get(cardId);
  if (!card) throw new Error(`Card ${cardId} does not exist`);
  return card;
}

export const claim = internalMutation({
  args: attempt,
  handler: async (ctx, args) => {
    await cardOf(ctx, args);
    const shop = await ctx.db.query("shop").unique();
    if (!shop) throw new Error("`shop` is empty");
    const paid = await ctx.db
      .query("payments")
      .withIndex("by_receipt", (q) => q.eq("receipt", args.receipt))
      .unique();
    if (paid || (await claimOf(ctx, args.receipt))) throw new Error("This receipt is taken");
    await ctx.db.insert("claims", { receipt: args.receipt });
    return { url: shop.paymentUrl, key: shop.apiKey };
  },
});

export const settle = internalMutation({
  args: { attempt, credits: v.union(v.number(), v.null()) },
  handler: async (ctx, { attempt, credits }) => {
    const claim = await claimOf(ctx, attempt.receipt);
    if (claim) await ctx.db.delete(claim._id);
    if (credits === null) return 0;
    const card = await cardOf(ctx, attempt);
    await ctx.db.patch(card._id, { credits: card.credits + credits });
    await ctx.db.insert("payments", { ...attempt, credits });
    return card.credits + credits;
  },
});

export const topUp = action({
  args: attempt,
  returns: v.number(),
  handler: async (ctx, args): Promise<number> => {
    const { url, key } = await ctx.runMutation(internal.cards.claim, args);
    let credits: number | null = null;
    try {
      const response = await fetch(url, {
        method: "POST",
        headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
        body: JSON.stringify({ receipt: args.receipt }),
      });
      if (response.status === 200) {
        const answer = await response.json();
        if (answer.paid === true) credits = answer.credits;
      }
    } finally {
      if (credits === null) await ctx.runMutation(internal.cards.settle, { attempt: args, credits });
    }
    if (credits === null) throw new Error("Not paid");
    return await ctx.runMutation(internal.cards.settle, { attempt: args, credits });
  },
});

export const grant = internalMutation({
  args: { cardId: v.id("cards"), credits: v.number() },
  handler: async (ctx, args) => {
    const card = await cardOf(ctx, args);
    if (args.credits < 1 || args.credits % 1 !== 0) throw new Error("Not a number of credits");
    await ctx.db.patch(card._id, { credits: card.credits + args.credits });
    return card.credits + args.credits;
  },
});
