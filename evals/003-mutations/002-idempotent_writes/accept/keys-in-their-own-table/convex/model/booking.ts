import type { Infer } from "convex/values";
import type { Id } from "../_generated/dataModel";
import type { MutationCtx } from "../_generated/server";
import type { paymentValidator } from "../schema";

export type Payment = Infer<typeof paymentValidator>;

const keyOf = ({ provider, externalId }: Payment) => JSON.stringify([provider, externalId]);

function assertSame(a: { customer: string; cents: number }, b: { customer: string; cents: number }) {
  if (a.customer !== b.customer || a.cents !== b.cents) throw new Error("This payment is known with other contents");
}

/** The payments of a list, each once. */
function distinct(payments: Payment[]): Map<string, Payment> {
  const byKey = new Map<string, Payment>();
  for (const payment of payments) {
    const same = byKey.get(keyOf(payment));
    if (same) assertSame(same, payment);
    else byKey.set(keyOf(payment), payment);
  }
  return byKey;
}

/** Books what is not booked yet; returns the id and whether it is new, by key. */
export async function bookAll(ctx: MutationCtx, payments: Payment[]) {
  const booked = await Promise.all(
    [...distinct(payments)].map(async ([key, payment]): Promise<{ paymentId: Id<"payments">; created: boolean; payment: Payment }> => {
      const known = await ctx.db
        .query("paymentKeys")
        .withIndex("by_key", (q) => q.eq("key", key))
        .unique();
      if (known !== null) {
        assertSame(known, payment);
        return { paymentId: known.paymentId, created: false, payment };
      }
      const paymentId = await ctx.db.insert("payments", payment);
      await ctx.db.insert("paymentKeys", { key, paymentId, customer: payment.customer, cents: payment.cents });
      return { paymentId, created: true, payment };
    }),
  );
  const sums = new Map<string, number>();
  for (const { created, payment } of booked) {
    if (created) sums.set(payment.customer, (sums.get(payment.customer) ?? 0) + payment.cents);
  }
  for (const [customer, cents] of sums) {
    const balance = await ctx.db
      .query("balances")
      .withIndex("by_customer", (q) => q.eq("customer", customer))
      .unique();
    if (balance === null) await ctx.db.insert("balances", { customer, cents });
    else await ctx.db.patch("balances", balance._id, { cents: balance.cents + cents });
  }
  return booked.map(({ paymentId, created }) => ({ paymentId, created }));
}
