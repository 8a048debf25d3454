import { ConvexError, v } from "convex/values";
import { api } from "./_generated/api";
import { mutation } from "./_generated/server";
import schema from "./schema";

const payment = schema.tables.payments.validator;

export const recordMany = mutation({
  args: { payments: v.array(payment) },
  handler: async (ctx, args): Promise<number> => {
    const created = new Set<string>();
    for (const next of args.payments) {
      const outcome = await ctx.runMutation(api.payments.record, next);
      if (outcome.created) created.add(outcome.paymentId);
    }
    return created.size;
  },
});

export const record = mutation({
  args: payment,
  handler: async (ctx, args) => {
    const known = await ctx.db
      .query("payments")
      .withIndex("key", (q) => q.eq("externalId", args.externalId).eq("provider", args.provider))
      .first();
    if (!known) {
      const balance = await ctx.db.query("balances").withIndex("customer", (q) => q.eq("customer", args.customer)).first();
      if (balance) await ctx.db.patch(balance._id, { cents: args.cents + balance.cents });
      else await ctx.db.insert("balances", { customer: args.customer, cents: args.cents });
      return { created: true, paymentId: await ctx.db.insert("payments", args) };
    }
    if (known.cents === args.cents && known.customer === args.customer) return { created: false, paymentId: known._id };
    throw new ConvexError({ code: "conflict", paymentId: known._id });
  },
});
