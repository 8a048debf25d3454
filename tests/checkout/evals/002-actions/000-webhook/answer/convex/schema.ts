import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  orders: defineTable({ item: v.string(), count: v.number(), digest: v.string() }).index("by_item", ["item"]),
});
