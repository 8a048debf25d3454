import { v } from "convex/values";
import { internal } from "./_generated/api";
import { action, internalMutation, query } from "./_generated/server";

type Product = { sku: string; name: string; cents: number };
type Page = { products: Product[]; nextPage: number | null };

export const sync = action({
  args: { baseUrl: v.string(), token: v.string() },
  returns: v.number(),
  handler: async (ctx, args) => {
    const products: Product[] = [];
    let page: number | null = 1;
    while (page !== null) {
      const url: URL = new URL("/products", args.baseUrl);
      url.searchParams.set("page", String(page));
      const response: Response = await fetch(url, {
        headers: { Authorization: `Bearer ${args.token}` },
      });
      if (response.status !== 200) {
        throw new Error(`The supplier answered page ${page} with ${response.status}`);
      }
      const body = (await response.json()) as Page;
      products.push(...body.products.map(({ sku, name, cents }) => ({ sku, name, cents })));
      page = body.nextPage;
    }
    // One transaction: the old list and the new one never mix.
    await ctx.runMutation(internal.products.replaceAll, { products });
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

export const replaceAll = internalMutation({
  args: { products: v.array(v.object({ sku: v.string(), name: v.string(), cents: v.number() })) },
  returns: v.null(),
  handler: async (ctx, args) => {
    const stored = await ctx.db.query("products").collect();
    const idOf = new Map(stored.map((product) => [product.sku, product._id]));
    for (const product of args.products) {
      const id = idOf.get(product.sku);
      if (id === undefined) {
        await ctx.db.insert("products", product);
      } else {
        await ctx.db.replace("products", id, product);
      }
      idOf.delete(product.sku);
    }
    for (const id of idOf.values()) {
      await ctx.db.delete("products", id);
    }
    return null;
  },
});
