import { v } from "convex/values";
import { internal } from "./_generated/api";
import { action, internalMutation, query } from "./_generated/server";

type Product = { sku: string; name: string; cents: number };
type Page = { products: Product[]; nextPage: number | null };

export const sync = action({
  args: { baseUrl: v.string(), token: v.string() },
  returns: v.number(),
  handler: async (ctx, args) => {
    const skus: string[] = [];
    let page: number | null = 1;
    while (page !== null) {
      const response = await fetch(`${args.baseUrl}/products?page=${page}`, {
        headers: { Authorization: `Bearer ${args.token}` },
      });
      if (response.status !== 200) {
        throw new Error(`The supplier answered page ${page} with ${response.status}`);
      }
      const body = (await response.json()) as Page;
      const products = body.products.map(({ sku, name, cents }) => ({ sku, name, cents }));
      await ctx.runMutation(internal.products.save, { products });
      skus.push(...products.map(({ sku }) => sku));
      page = body.nextPage;
    }
    await ctx.runMutation(internal.products.removeOthers, { skus });
    return skus.length;
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

export const save = internalMutation({
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
    }
    return null;
  },
});

export const removeOthers = internalMutation({
  args: { skus: v.array(v.string()) },
  returns: v.null(),
  handler: async (ctx, args) => {
    const kept = new Set(args.skus);
    for (const product of await ctx.db.query("products").collect()) {
      if (!kept.has(product.sku)) await ctx.db.delete("products", product._id);
    }
    return null;
  },
});
