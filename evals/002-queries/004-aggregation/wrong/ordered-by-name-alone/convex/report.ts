import { v } from "convex/values";
import { query, type QueryCtx } from "./_generated/server";

const DAY_MS = 24 * 60 * 60 * 1000;

/** The sales of a shop from `from` to just before `to`. */
function salesBetween(ctx: QueryCtx, shop: string, from: number, to: number) {
  return ctx.db
    .query("sales")
    .withIndex("by_shop_and_at", (q) => q.eq("shop", shop).gte("at", from).lt("at", to));
}

export const perDay = query({
  args: { shop: v.string(), now: v.number(), days: v.number() },
  returns: v.array(v.object({ begin: v.number(), sales: v.number(), cents: v.number() })),
  handler: async (ctx, args) => {
    const start = args.now - args.days * DAY_MS;
    const totals = Array.from({ length: args.days }, (_, day) => ({
      begin: start + day * DAY_MS,
      sales: 0,
      cents: 0,
    }));
    for await (const sale of salesBetween(ctx, args.shop, start, args.now)) {
      const day = Math.floor((sale.at - start) / DAY_MS);
      totals[day].sales += 1;
      totals[day].cents += sale.cents;
    }
    return totals;
  },
});

export const perProduct = query({
  args: { shop: v.string(), from: v.number(), to: v.number() },
  returns: v.array(v.object({ product: v.string(), sales: v.number(), cents: v.number() })),
  handler: async (ctx, args) => {
    const totals = new Map<string, { product: string; sales: number; cents: number }>();
    for await (const sale of salesBetween(ctx, args.shop, args.from, args.to)) {
      const total = totals.get(sale.product) ?? { product: sale.product, sales: 0, cents: 0 };
      total.sales += 1;
      total.cents += sale.cents;
      totals.set(sale.product, total);
    }
    return [...totals.values()].sort((a, b) => (a.product < b.product ? -1 : 1));
  },
});
