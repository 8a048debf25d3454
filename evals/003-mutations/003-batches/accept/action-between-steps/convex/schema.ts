import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export const customerFields = { email: v.string(), emailKey: v.optional(v.string()), notes: v.optional(v.string()) };

export default defineSchema({
  customers: defineTable(customerFields),
  backfills: defineTable({ finishedAt: v.optional(v.number()), processed: v.number() }),
});
