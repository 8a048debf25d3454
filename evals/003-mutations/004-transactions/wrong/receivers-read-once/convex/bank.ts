import { ConvexError, v } from "convex/values";
import { api } from "./_generated/api";
import type { Id } from "./_generated/dataModel";
import { mutation, type MutationCtx } from "./_generated/server";

const splitArgs = {
  from: v.id("accounts"),
  shares: v.array(v.object({ to: v.id("accounts"), cents: v.number() })),
};

function checkAmount(cents: number): void {
  if (!Number.isInteger(cents) || cents < 1) {
    throw new ConvexError("The amount must be a whole number of at least 1");
  }
}

async function move(
  ctx: MutationCtx,
  from: Id<"accounts">,
  to: Id<"accounts">,
  cents: number,
): Promise<void> {
  checkAmount(cents);
  if (from === to) {
    throw new ConvexError("The accounts must be different");
  }
  const source = await ctx.db.get("accounts", from);
  const target = await ctx.db.get("accounts", to);
  if (source === null || target === null) {
    throw new ConvexError("The account does not exist");
  }
  if (source.cents < cents) {
    throw new ConvexError("The account has less than the amount");
  }
  await ctx.db.patch("accounts", from, { cents: source.cents - cents });
  await ctx.db.patch("accounts", to, { cents: target.cents + cents });
  await ctx.db.insert("entries", { accountId: from, cents: -cents });
  await ctx.db.insert("entries", { accountId: to, cents });
}

export const transfer = mutation({
  args: { from: v.id("accounts"), to: v.id("accounts"), cents: v.number() },
  returns: v.null(),
  handler: async (ctx, { from, to, cents }) => {
    await move(ctx, from, to, cents);
    return null;
  },
});

export const split = mutation({
  args: splitArgs,
  returns: v.null(),
  handler: async (ctx, { from, shares }): Promise<null> => {
    if (shares.length === 0) {
      return null;
    }
    const source = await ctx.db.get("accounts", from);
    const targets = await Promise.all(
      shares.map(async ({ to, cents }) => ({
        target: await ctx.db.get("accounts", to),
        cents,
      })),
    );
    if (source === null) {
      throw new ConvexError("The account does not exist");
    }

    let left = source.cents;
    for (const { target, cents } of targets) {
      checkAmount(cents);
      if (target === null) {
        throw new ConvexError("The account does not exist");
      }
      if (target._id === from) {
        throw new ConvexError("The accounts must be different");
      }
      if (left < cents) {
        throw new ConvexError("The account has less than the amount");
      }
      left -= cents;
      await ctx.db.patch("accounts", target._id, {
        cents: target.cents + cents,
      });
      await ctx.db.insert("entries", { accountId: from, cents: -cents });
      await ctx.db.insert("entries", { accountId: target._id, cents });
    }
    await ctx.db.patch("accounts", from, { cents: left });
    return null;
  },
});

export const payroll = mutation({
  args: { payments: v.array(v.object(splitArgs)) },
  returns: v.array(v.boolean()),
  handler: async (ctx, { payments }): Promise<boolean[]> => {
    const made: boolean[] = [];
    for (const payment of payments) {
      try {
        await ctx.runMutation(api.bank.split, payment);
        made.push(true);
      } catch {
        made.push(false);
      }
    }
    return made;
  },
});
