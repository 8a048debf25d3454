import { ConvexError, type Infer } from "convex/values";
import type { Doc, Id } from "./_generated/dataModel";
import type { MutationCtx } from "./_generated/server";
import type { payment } from "./schema";

type Report = Infer<typeof payment>;
type Outcome = { paymentId: Id<"payments">; created: boolean };
type Balance = { id: Id<"balances"> | null; cents: number };

export function keyOf({ provider, externalId }: Report): string {
  return JSON.stringify([provider, externalId]);
}

/**
 * Books payments within one mutation. What has been read once is remembered,
 * so that repeated payments (whose `raw` may be large) are not read again.
 * `record` must not be called concurrently; call `close` at the end, to write
 * the balances.
 */
export function openBook(ctx: MutationCtx) {
  const known = new Map<
    string,
    Pick<Doc<"payments">, "_id" | "customer" | "cents">
  >();
  const balances = new Map<string, Balance>();

  async function findPayment(report: Report) {
    const key = keyOf(report);
    const remembered = known.get(key);
    if (remembered !== undefined) {
      return remembered;
    }
    const stored = await ctx.db
      .query("payments")
      .withIndex("by_provider_and_externalId", (q) =>
        q.eq("provider", report.provider).eq("externalId", report.externalId),
      )
      .unique();
    if (stored === null) {
      return null;
    }
    const { _id, customer, cents } = stored;
    known.set(key, { _id, customer, cents });
    return { _id, customer, cents };
  }

  async function findBalance(customer: string): Promise<Balance> {
    const remembered = balances.get(customer);
    if (remembered !== undefined) {
      return remembered;
    }
    const stored = await ctx.db
      .query("balances")
      .withIndex("by_customer", (q) => q.eq("customer", customer))
      .unique();
    return stored === null
      ? { id: null, cents: 0 }
      : { id: stored._id, cents: stored.cents };
  }

  async function record(report: Report): Promise<Outcome> {
    const existing = await findPayment(report);
    if (existing !== null) {
      if (
        existing.customer !== report.customer ||
        existing.cents !== report.cents
      ) {
        throw new ConvexError(
          `Payment ${report.externalId} of ${report.provider} is booked already with another customer or amount`,
        );
      }
      return { paymentId: existing._id, created: false };
    }

    const paymentId = await ctx.db.insert("payments", report);
    known.set(keyOf(report), {
      _id: paymentId,
      customer: report.customer,
      cents: report.cents,
    });

    const balance = await findBalance(report.customer);
    balances.set(report.customer, {
      id: balance.id,
      cents: balance.cents + report.cents,
    });
    return { paymentId, created: true };
  }

  async function close(): Promise<void> {
    for (const [customer, { id, cents }] of balances) {
      if (id === null) {
        await ctx.db.insert("balances", { customer, cents });
      } else {
        await ctx.db.patch("balances", id, { cents });
      }
    }
  }

  return { record, close };
}
