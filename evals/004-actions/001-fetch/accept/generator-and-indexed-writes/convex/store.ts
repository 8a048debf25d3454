import { v } from "convex/values";
import { internalMutation } from "./_generated/server";
import { productFields } from "./schema";

export default internalMutation({
  args: { list: v.array(v.object(productFields)) },
  handler: async ({ db }, { list }) => {
    const kept = new Set<string>();
    await Promise.all(
      list.map(async (product) => {
        kept.add(product.sku);
        const existing = await db.query("products").withIndex("sku", (q) => q.eq("sku", product.sku)).unique();
        if (!existing) await db.insert("products", product);
        else if (existing.name !== product.name || existing.cents !== product.cents) await db.patch(existing._id, product);
      }),
    );
    for await (const { _id, sku } of db.query("products")) {
      if (!kept.has(sku)) await db.delete(_id);
    }
    return kept.size;
  },
});
