import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  shop: defineTable({ paymentUrl: v.string(), apiKey: v.string() }),
  cards: defineTable({ credits: v.number() }),
  payments: defineTable({ cardId: v.id("cards"), receipt: v.string(), credits: v.number() }).index("by_receipt", ["receipt"]),
  claims: defineTable({ receipt: v.string() }).index("by_receipt", ["receipt"]),
});
