import { v } from "convex/values";
import type { Doc } from "./_generated/dataModel";
import { mutation, type MutationCtx } from "./_generated/server";
import { paymentFields } from "./schema";

type Payment = Omit<Doc<"payments">, "_id" | "_creationTime">;

/** Books a payment unless that has been done already. */
async function book(ctx: MutationCtx, payment: Payment) {
  const known = await ctx.db
    .query("payments")
    .filter((q) => q.and(q.eq(q.field("provider"), payment.provider), q.eq(q.field("externalId"), payment.externalId)))
    .unique();
  if (known !== null) {
    if (known.customer !== payment.customer || known.cents !== payment.cents) {
      throw new Error(`Payment ${payment.externalId} of ${payment.provider} was recorded with other contents`);
    }
    return { paymentId: known._id, created: false };
  }
  const paymentId = await ctx.db.insert("payments", payment);
  const balance = await ctx.db
    .query("balances")
    .withIndex("by_customer", (q) => q.eq("customer", payment.customer))
    .unique();
  if (balance === null) {
    await ctx.db.insert("balances", { customer: payment.customer, cents: payment.cents });
  } else {
    await ctx.db.patch("balances", balance._id, { cents: balance.cents + payment.cents });
  }
  return { paymentId, created: true };
}

export const record = mutation({
  args: paymentFields,
  returns: v.object({ paymentId: v.id("payments"), created: v.boolean() }),
  handler: async (ctx, args) => {
    return await book(ctx, args);
  },
});

export const recordMany = mutation({
  args: { payments: v.array(v.object(paymentFields)) },
  returns: v.number(),
  handler: async (ctx, args) => {
    let count = 0;
    // One after another: a payment must see what the one before it has written.
    for (const payment of args.payments) {
      const { created } = await book(ctx, payment);
      if (created) {
        count += 1;
      }
    }
    return count;
  },
});
