import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  messages: defineTable({ author: v.string(), body: v.string() }).index("by_author", ["author"]),
  deliveries: defineTable({ deliveryId: v.string(), event: v.string(), payload: v.any() }).index("by_delivery_id", ["deliveryId"]),
});
