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
    await ctx.runMutation(internal.products.replaceAll, { products });
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

/** Brings the table from the old list to the new one, in one transaction. */
export const replaceAll = internalMutation({
  args: { products: v.array(v.object(productFields)) },
  returns: v.null(),
  handler: async (ctx, { products }) => {
    const stored = await ctx.db.query("products").collect();
    const obsolete = new Map(stored.map((doc) => [doc.sku, doc]));

    for (const { sku, name, cents } of products) {
      const doc = obsolete.get(sku);
      if (doc === undefined) {
        await ctx.db.insert("products", { sku, name, cents });
        continue;
      }
      obsolete.delete(sku);
      if (doc.name !== name || doc.cents !== cents) {
        await ctx.db.patch("products", doc._id, { name, cents });
      }
    }

    for (const doc of obsolete.values()) {
      await ctx.db.delete("products", doc._id);
    }
    return null;
  },
});
