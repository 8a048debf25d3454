import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  sales: defineTable({
    shop: v.string(),
    product: v.string(),
    /** Whole cents, negative for a refund. */
    cents: v.number(),
    /** Milliseconds since 1970. */
    at: v.number(),
    receipt: v.optional(v.string()),
  }).index("by_shop_and_at", ["shop", "at"]),
});
