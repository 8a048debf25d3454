import { v } from "convex/values";
import { query } from "./_generated/server";
import { totalsBy } from "./model/totals";

const DAY = 86_400_000;
const total = { sales: v.number(), cents: v.number() };

export const perProduct = query({
  args: { shop: v.string(), from: v.number(), to: v.number() },
  returns: v.array(v.object({ ...total, product: v.string() })),
  handler: async (ctx, args) => {
    const totals = await totalsBy(ctx, args, (sale) => sale.product);
    const rows = Array.from(totals, ([product, { sales, cents }]) => ({ product, sales, cents: Number(cents) }));
    rows.sort((a, b) => {
      if (a.cents !== b.cents) return b.cents - a.cents;
      return a.product > b.product ? 1 : -1;
    });
    return rows;
  },
});

export const perDay = query({
  args: { shop: v.string(), now: v.number(), days: v.number() },
  returns: v.array(v.object({ ...total, begin: v.number() })),
  handler: async (ctx, { shop, now, days }) => {
    const from = now - days * DAY;
    // Day 1 is the one that ends at `now`.
    const totals = await totalsBy(ctx, { shop, from, to: now }, (sale) => Math.ceil((now - sale.at) / DAY));
    const rows = [];
    for (let ago = days; ago >= 1; ago -= 1) {
      const found = totals.get(ago);
      rows.push({ begin: now - ago * DAY, sales: found?.sales ?? 0, cents: Number(found?.cents ?? 0n) });
    }
    return rows;
  },
});
