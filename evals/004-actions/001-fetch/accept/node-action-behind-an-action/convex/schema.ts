import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  products: defineTable(v.object({ sku: v.string(), name: v.string(), cents: v.number() })),
});
