import { ConvexError, v } from "convex/values";
import { query, type QueryCtx } from "./_generated/server";

const DAY = 24 * 60 * 60 * 1000;
const MAX_DAYS = 31;

type Totals = { sales: number; cents: number };

function noSales(): Totals {
  return { sales: 0, cents: 0 };
}

function add(totals: Totals, cents: number) {
  totals.sales += 1;
  totals.cents += cents;
}

/** The sales of a shop from `from` (included) to `to` (not included). */
function salesOf(ctx: QueryCtx, shop: string, from: number, to: number) {
  return ctx.db
    .query("sales")
    .withIndex("by_shop_and_at", (q) =>
      q.eq("shop", shop).gte("at", from).lt("at", to),
    );
}

export const perDay = query({
  args: { shop: v.string(), now: v.number(), days: v.number() },
  returns: v.array(
    v.object({ begin: v.number(), sales: v.number(), cents: v.number() }),
  ),
  handler: async (ctx, { shop, now, days }) => {
    if (!Number.isInteger(days) || days < 1 || days > MAX_DAYS) {
      throw new ConvexError(`days must be a whole number from 1 to ${MAX_DAYS}`);
    }

    const report = Array.from({ length: days }, (_, index) => ({
      begin: now - (days - index) * DAY,
      ...noSales(),
    }));
    const newestDayFirst = report.slice().reverse();
    const start = now - days * DAY;
    for await (const { at, cents } of salesOf(ctx, shop, start, now)) {
      const day = newestDayFirst.find(({ begin }) => begin <= at);
      if (day !== undefined) add(day, cents);
    }
    return report;
  },
});

export const perProduct = query({
  args: { shop: v.string(), from: v.number(), to: v.number() },
  returns: v.array(
    v.object({ product: v.string(), sales: v.number(), cents: v.number() }),
  ),
  handler: async (ctx, { shop, from, to }) => {
    const totals = new Map<string, Totals>();
    for await (const { product, cents } of salesOf(ctx, shop, from, to)) {
      let total = totals.get(product);
      if (total === undefined) {
        total = noSales();
        totals.set(product, total);
      }
      add(total, cents);
    }

    return Array.from(totals, ([product, total]) => ({ product, ...total })).sort(
      (a, b) => b.cents - a.cents,
    );
  },
});
