import { ConvexError, v } from "convex/values";
import { mutation, query } from "./_generated/server";

/** Stores a product, or replaces the one with its SKU. Returns true if it is a new one. */
export const save = mutation({
  args: { sku: v.string(), name: v.string(), stock: v.number() },
  handler: async (ctx, args) => {
    if (args.stock < 0) {
      throw new ConvexError("The stock cannot be negative");
    }
    const known = await ctx.db
      .query("products")
      .withIndex("by_sku", (q) => q.eq("sku", args.sku))
      .unique();
    if (known === null) {
      await ctx.db.insert("products", args);
    } else {
      await ctx.db.replace(known._id, args);
    }
    return known === null;
  },
});

/** The products of which at most `limit` are in stock, by SKU. */
export const low = query({
  args: { limit: v.number() },
  handler: async (ctx, args) => {
    const products = await ctx.db.query("products").withIndex("by_sku").take(1000);
    return products.filter((product) => product.stock <= args.limit);
  },
});
