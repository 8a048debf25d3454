import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  balances: defineTable({ customer: v.string(), cents: v.number() }).index("customer", ["customer", "cents"]),
  payments: defineTable({
    customer: v.string(),
    cents: v.number(),
    provider: v.string(),
    externalId: v.string(),
    raw: v.optional(v.string()),
  }).index("key", ["externalId", "provider", "customer"]),
});
