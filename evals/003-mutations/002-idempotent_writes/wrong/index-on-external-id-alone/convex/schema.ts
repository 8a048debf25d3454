import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export const paymentFields = {
  provider: v.string(),
  externalId: v.string(),
  customer: v.string(),
  cents: v.number(),
  raw: v.optional(v.string()),
};

export default defineSchema({
  payments: defineTable(paymentFields).index("by_externalId", ["externalId"]),
  balances: defineTable({
    customer: v.string(),
    cents: v.number(),
  }).index("by_customer", ["customer"]),
});
