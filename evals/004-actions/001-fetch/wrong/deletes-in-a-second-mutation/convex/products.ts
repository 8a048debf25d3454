import { v } from "convex/values";
import { internal } from "./_generated/api";
import { action, internalMutation, query } from "./_generated/server";
import { productFields } from "./schema";
import { fetchPriceList } from "./supplier";

export const sync = action({
  args: { baseUrl: v.string(), token: v.string() },
  returns: v.number(),
  handler: async (ctx, { baseUrl, token }): Promise<number> => {
    const products = await fetchPriceList(baseUrl, token);
    await ctx.runMutation(internal.products.upsertAll, { products });
    await ctx.runMutation(internal.products.removeMissing, {
      skus: products.map((product) => product.sku),
    });
    return products.length;
  },
});

export const list = query({
  args: {},
  returns: v.array(v.object(productFields)),
  handler: async (ctx) => {
    const products = await ctx.db
      .query("products")
      .withIndex("by_sku")
      .order("asc")
      .collect();
    return products.map(({ sku, name, cents }) => ({ sku, name, cents }));
  },
});

/** Inserts the new products and updates those that are already stored. */
export const upsertAll = internalMutation({
  args: { products: v.array(v.object(productFields)) },
  returns: v.null(),
  handler: async (ctx, { products }) => {
    for (const { sku, name, cents } of products) {
      const doc = await ctx.db
        .query("products")
        .withIndex("by_sku", (q) => q.eq("sku", sku))
        .unique();
      if (doc === null) {
        await ctx.db.insert("products", { sku, name, cents });
      } else {
        await ctx.db.patch("products", doc._id, { name, cents });
      }
    }
    return null;
  },
});

/** Deletes the products that are no longer in the list. */
export const removeMissing = internalMutation({
  args: { skus: v.array(v.string()) },
  returns: v.null(),
  handler: async (ctx, { skus }) => {
    const listed = new Set(skus);
    const stored = await ctx.db.query("products").collect();
    for (const doc of stored) {
      if (!listed.has(doc.sku)) {
        await ctx.db.delete("products", doc._id);
      }
    }
    return null;
  },
});
