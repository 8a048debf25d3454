import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  sales: defineTable({
    shop: v.string(),
    product: v.string(),
    cents: v.number(),
    at: v.number(),
    receipt: v.optional(v.string()),
  }).index("by_shop_and_time", ["shop", "at"]),
});
