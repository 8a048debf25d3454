import { ConvexError, v } from "convex/values";
import { mutation } from "./_generated/server";
import { pay } from "./lib/ledger";

const account = v.id("accounts");
const share = v.object({ cents: v.number(), to: account });

export const payroll = mutation({
  args: { payments: v.array(v.object({ from: account, shares: v.array(share) })) },
  handler: async (ctx, { payments }) => {
    const outcomes: boolean[] = [];
    for (const { from, shares } of payments) outcomes.push(await pay(ctx, from, shares));
    return outcomes;
  },
});

export const split = mutation({
  args: { from: account, shares: v.array(share) },
  handler: async (ctx, { from, shares }) => {
    if (!(await pay(ctx, from, shares))) throw new ConvexError("refused");
  },
});

export const transfer = mutation({
  args: { from: account, to: account, cents: v.number() },
  handler: async (ctx, { from, ...only }) => {
    if (!(await pay(ctx, from, [only]))) throw new ConvexError("refused");
  },
});
