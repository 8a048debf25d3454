import { v } from "convex/values";
import { internal } from "./_generated/api";
import type { Id } from "./_generated/dataModel";
import { mutation, type MutationCtx } from "./_generated/server";
import { payment } from "./payments";

async function book(ctx: MutationCtx, accountId: Id<"accounts">, cents: number) {
  const account = await ctx.db.get(accountId);
  if (!account) throw new Error(`no account ${accountId}`);
  await ctx.db.insert("entries", { accountId, cents });
  await ctx.db.patch(accountId, { cents: account.cents + cents });
  if (account.cents + cents < 0) throw new Error("overdrawn");
}

export const transfer = mutation({
  args: { cents: v.number(), from: v.id("accounts"), to: v.id("accounts") },
  handler: async (ctx, { from, to, cents }): Promise<null> => {
    await book(ctx, to, cents);
    await book(ctx, from, -cents);
    if (cents < 1 || Math.floor(cents) !== cents) throw new Error("no amount");
    if (from === to) throw new Error("same account");
    return null;
  },
});

export const split = mutation({
  args: payment,
  handler: async (ctx, args): Promise<null> => await ctx.runMutation(internal.payments.pay, args),
});

export const payroll = mutation({
  args: { payments: v.array(v.object(payment)) },
  returns: v.array(v.boolean()),
  handler: async (ctx, { payments }) => {
    const made: boolean[] = [];
    for (const next of payments) {
      made.push(
        await ctx.runMutation(internal.payments.pay, next).then(
          () => true,
          () => false,
        ),
      );
    }
    return made;
  },
});
