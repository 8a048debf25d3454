import { v } from "convex/values";
import { internal } from "./_generated/api";
import { action, internalMutation, query } from "./_generated/server";
import schema from "./schema";

export const list = query({
  args: {},
  handler: async (ctx) => {
    const all = await ctx.db.query("products").collect();
    all.sort((a, b) => a.sku.localeCompare(b.sku));
    return all.map((product) => ({ sku: product.sku, name: product.name, cents: product.cents }));
  },
});

export const sync = action({
  args: { baseUrl: v.string(), token: v.string() },
  handler: async (ctx, args): Promise<number> => await ctx.runAction(internal.supplier.download, args),
});

export const write = internalMutation({
  args: { products: v.array(schema.tables.products.validator) },
  handler: async (ctx, { products }) => {
    const wanted = new Map(products.map((product) => [product.sku, product]));
    for (const { _id, sku } of await ctx.db.query("products").collect()) {
      const product = wanted.get(sku);
      if (product) await ctx.db.patch("products", _id, { name: product.name, cents: product.cents });
      else await ctx.db.delete("products", _id);
      wanted.delete(sku);
    }
    await Promise.all([...wanted.values()].map((product) => ctx.db.insert("products", product)));
  },
});
