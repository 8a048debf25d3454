import type { Doc } from "../_generated/dataModel";
import type { QueryCtx } from "../_generated/server";

export interface Range {
  shop: string;
  from: number;
  to: number;
}

interface Total {
  sales: number;
  cents: bigint;
}

/** The totals of a range for each value of `key`. */
export async function totalsBy<K>(ctx: QueryCtx, { shop, from, to }: Range, key: (sale: Doc<"sales">) => K): Promise<Map<K, Total>> {
  const totals = new Map<K, Total>();
  const range = ctx.db
    .query("sales")
    .withIndex("by_shop_and_time", (q) => q.eq("shop", shop).gte("at", from).lt("at", to))
    .order("desc");
  for await (const sale of range) {
    const { sales, cents } = totals.get(key(sale)) ?? { sales: 0, cents: 0n };
    totals.set(key(sale), { sales: sales + 1, cents: cents + BigInt(sale.cents) });
  }
  return totals;
}
