import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export const productFields = {
  sku: v.string(),
  name: v.string(),
  cents: v.number(),
};

export default defineSchema({
  products: defineTable(productFields).index("by_sku", ["sku"]),
});
