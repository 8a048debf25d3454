import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export const paymentValidator = v.object({
  provider: v.string(),
  externalId: v.string(),
  customer: v.string(),
  cents: v.number(),
  raw: v.optional(v.string()),
});

export default defineSchema({
  payments: defineTable(paymentValidator),
  paymentKeys: defineTable({ key: v.string(), paymentId: v.id("payments"), customer: v.string(), cents: v.number() }).index("by_key", ["key"]),
  balances: defineTable({ customer: v.string(), cents: v.number() }).index("by_customer", ["customer"]),
});
