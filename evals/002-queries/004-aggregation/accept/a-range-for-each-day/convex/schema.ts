import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  sales: defineTable({
    at: v.float64(),
    cents: v.float64(),
    product: v.string(),
    receipt: v.optional(v.string()),
    shop: v.string(),
  })
    .index("timeline", ["shop", "at", "product"])
    .index("products", ["shop", "product", "at"]),
});
