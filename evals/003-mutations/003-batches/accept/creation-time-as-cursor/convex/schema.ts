import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  customers: defineTable({
    notes: v.optional(v.string()),
    emailKey: v.optional(v.string()),
    email: v.string(),
  }).index("by_emailKey", ["emailKey"]),
  state: defineTable({ running: v.boolean(), handled: v.number() }),
});
