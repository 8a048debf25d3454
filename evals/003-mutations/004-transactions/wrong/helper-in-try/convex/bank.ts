import { v } from "convex/values";
import type { Id } from "./_generated/dataModel";
import { mutation, type MutationCtx } from "./_generated/server";

const splitArgs = {
  from: v.id("accounts"),
  shares: v.array(v.object({ to: v.id("accounts"), cents: v.number() })),
};

/** Moves an amount, or throws. */
async function move(ctx: MutationCtx, from: Id<"accounts">, to: Id<"accounts">, cents: number) {
  if (!Number.isInteger(cents) || cents < 1) {
    throw new Error("The amount must be a whole number of at least 1");
  }
  if (from === to) {
    throw new Error("The accounts must be different");
  }
  const payer = await ctx.db.get("accounts", from);
  const receiver = await ctx.db.get("accounts", to);
  if (payer === null || receiver === null) {
    throw new Error("There is no such account");
  }
  if (payer.cents < cents) {
    throw new Error("There is not enough money in the account");
  }
  await ctx.db.patch("accounts", from, { cents: payer.cents - cents });
  await ctx.db.patch("accounts", to, { cents: receiver.cents + cents });
  await ctx.db.insert("entries", { accountId: from, cents: -cents });
  await ctx.db.insert("entries", { accountId: to, cents });
}

export const transfer = mutation({
  args: { from: v.id("accounts"), to: v.id("accounts"), cents: v.number() },
  returns: v.null(),
  handler: async (ctx, args) => {
    await move(ctx, args.from, args.to, args.cents);
    return null;
  },
});

export const split = mutation({
  args: splitArgs,
  returns: v.null(),
  handler: async (ctx, args) => {
    for (const share of args.shares) {
      await move(ctx, args.from, share.to, share.cents);
    }
    return null;
  },
});

export const payroll = mutation({
  args: { payments: v.array(v.object(splitArgs)) },
  returns: v.array(v.boolean()),
  handler: async (ctx, args) => {
    const made: boolean[] = [];
    for (const payment of args.payments) {
      try {
        for (const share of payment.shares) {
          await move(ctx, payment.from, share.to, share.cents);
        }
        made.push(true);
      } catch {
        made.push(false);
      }
    }
    return made;
  },
});
