import { v } from "convex/values";
import type { Doc } from "./_generated/dataModel";
import { query, type DatabaseReader } from "./_generated/server";
import { DAYS } from "./time";

function sold(db: DatabaseReader, shop: string, from: number, to: number): Promise<Doc<"sales">[]> {
  return db
    .query("sales")
    .withIndex("timeline", (q) => q.eq("shop", shop).gte("at", from).lt("at", to))
    .collect();
}

const sum = (sales: Doc<"sales">[]) => sales.reduce((total, { cents }) => total + cents, 0);

export const perDay = query({
  args: { days: v.number(), now: v.number(), shop: v.string() },
  handler: async ({ db }, { shop, now, days }) => {
    const begins: number[] = [];
    for (let day = days; day > 0; day--) begins.push(now - day * DAYS);
    return await Promise.all(
      begins.map(async (begin) => {
        const sales = await sold(db, shop, begin, begin + DAYS);
        return { begin, sales: sales.length, cents: sum(sales) };
      }),
    );
  },
});

export const perProduct = query({
  args: { from: v.number(), shop: v.string(), to: v.number() },
  handler: async ({ db }, { shop, from, to }) => {
    const groups: Record<string, Doc<"sales">[]> = {};
    for (const sale of await sold(db, shop, from, to)) {
      (groups[sale.product] ??= []).push(sale);
    }
    return Object.entries(groups)
      .map(([product, sales]) => ({ product, sales: sales.length, cents: sum(sales) }))
      .sort((a, b) => a.product.localeCompare(b.product))
      .sort((a, b) => b.cents - a.cents);
  },
});
