"use node";

import { v } from "convex/values";
import { internal } from "./_generated/api";
import { internalAction } from "./_generated/server";

type Product = { sku: string; name: string; cents: number };

export const download = internalAction({
  args: { baseUrl: v.string(), token: v.string() },
  returns: v.number(),
  handler: async (ctx, { baseUrl, token }): Promise<number> => {
    const bySku: Record<string, Product> = {};
    const readFrom = async (page: number): Promise<void> => {
      const res = await fetch(baseUrl + "/products?" + new URLSearchParams({ page: page.toString() }).toString(), {
        method: "GET",
        headers: { Authorization: "Bearer " + token },
        signal: AbortSignal.timeout(60_000),
      });
      if (res.status !== 200) throw new Error("HTTP error");
      const { products, nextPage } = await res.json();
      for (const { sku, name, cents } of products) bySku[sku] = { sku, name, cents };
      if (nextPage) await readFrom(nextPage);
    };
    await readFrom(1);
    await ctx.runMutation(internal.products.write, { products: Object.values(bySku) });
    return Object.keys(bySku).length;
  },
});
