import { v } from "convex/values";
import { api } from "./_generated/api";
import { internalMutation } from "./_generated/server";

export const payment = {
  shares: v.array(v.object({ to: v.id("accounts"), cents: v.number() })),
  from: v.id("accounts"),
};

export const pay = internalMutation({
  args: payment,
  returns: v.null(),
  handler: async (ctx, { from, shares }) => {
    for (const { to, cents } of shares) await ctx.runMutation(api.bank.transfer, { from, to, cents });
    return null;
  },
});
