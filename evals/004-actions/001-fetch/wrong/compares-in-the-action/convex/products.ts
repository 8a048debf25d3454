import { v } from "convex/values";
import { internal } from "./_generated/api";
import type { Doc } from "./_generated/dataModel";
import { action, internalMutation, internalQuery, query } from "./_generated/server";

type Product = { sku: string; name: string; cents: number };
type Page = { products: Product[]; nextPage: number | null };

export const sync = action({
  args: { baseUrl: v.string(), token: v.string() },
  returns: v.number(),
  handler: async (ctx, args) => {
    const stored: Doc<"products">[] = await ctx.runQuery(internal.products.all, {});
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
    const idOf = new Map(stored.map((product) => [product.sku, product._id]));
    const skus = new Set(products.map(({ sku }) => sku));
    await ctx.runMutation(internal.products.write, {
      added: products.filter(({ sku }) => !idOf.has(sku)),
      changed: products.flatMap((product) => {
        const id = idOf.get(product.sku);
        return id === undefined ? [] : [{ id, product }];
      }),
      removed: stored.filter(({ sku }) => !skus.has(sku)).map(({ _id }) => _id),
    });
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

export const all = internalQuery({
  args: {},
  handler: async (ctx) => await ctx.db.query("products").collect(),
});

const product = v.object({ sku: v.string(), name: v.string(), cents: v.number() });

export const write = internalMutation({
  args: {
    added: v.array(product),
    changed: v.array(v.object({ id: v.id("products"), product })),
    removed: v.array(v.id("products")),
  },
  returns: v.null(),
  handler: async (ctx, args) => {
    for (const added of args.added) await ctx.db.insert("products", added);
    for (const { id, product } of args.changed) await ctx.db.replace("products", id, product);
    for (const id of args.removed) await ctx.db.delete("products", id);
    return null;
  },
});
