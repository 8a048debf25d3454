import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  payments: defineTable({ cents: v.number(), eventId: v.string(), order: v.string(), shop: v.string() })
    .index("event", ["eventId", "shop"])
    .index("order", ["order", "shop"]),
  shops: defineTable({ name: v.string(), secret: v.string() }).index("name", ["name"]),
});
