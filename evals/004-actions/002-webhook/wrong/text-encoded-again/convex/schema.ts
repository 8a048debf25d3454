import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  shops: defineTable({
    name: v.string(),
    secret: v.string(),
  }).index("by_name", ["name"]),
  payments: defineTable({
    shop: v.string(),
    eventId: v.string(),
    order: v.string(),
    cents: v.number(),
  })
    .index("by_shop_and_eventId", ["shop", "eventId"])
    .index("by_shop_and_order", ["shop", "order"]),
});
