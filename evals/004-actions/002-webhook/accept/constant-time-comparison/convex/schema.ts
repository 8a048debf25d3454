import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  shops: defineTable({ name: v.string(), secret: v.string() }),
  payments: defineTable({ shop: v.string(), eventId: v.string(), order: v.string(), cents: v.number() }).index("shop_event", ["shop", "eventId"]),
});
