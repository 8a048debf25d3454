import { v } from "convex/values";
import { action, query } from "./_generated/server";

type Product = { sku: string; name: string; cents: number };
type Page = { products: Product[]; nextPage: number | null };

export const sync = action({
  args: { baseUrl: v.string(), token: v.string() },
  returns: v.number(),
  handler: async (ctx, args) => {
    const products: Product[] = [];
    let page: number | null = 1;
    while (page !== null) {
      const response = await fetch(`${args.baseUrl}/products?page=${page}`, {
        headers: { Authorization: `Bearer ${args.token}` },
      });
      if (response.status !== 200) {
        throw new Error(`The supplier answered page ${page} with ${response.status}`);
      }
      const body = (await response.json()) as Page;
      products.push(...body.products.map(({ sku, name, cents }) => ({ sku, name, cents })));
      page = body.nextPage;
    }
    const stored = await ctx.db.query("products").collect();
    for (const { _id } of stored) {
      await ctx.db.delete("products", _id);
    }
    for (const product of products) {
      await ctx.db.insert("products", product);
    }
    return products.length;
  },
});

export const list = query({
  args: {},
  returns: v.array(v.object({ sku: v.string(), name: v.string(), cents: v.number() })),
  handler: async (ctx) => {
    const products = await ctx.db.query("products").withIndex("by_sku").collect();
    return products.map(({ sku, name, cents }) => ({ sku, name, cents }));
  },
});
