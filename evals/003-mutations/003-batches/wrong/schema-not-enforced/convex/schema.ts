import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  customers: defineTable({
    email: v.string(),
    emailKey: v.optional(v.string()),
    notes: v.optional(v.string()),
  }),
  runs: defineTable({
    status: v.union(v.literal("running"), v.literal("done")),
    processed: v.number(),
    batchSize: v.number(),
    cursor: v.union(v.string(), v.null()),
  }),
}, { schemaValidation: false });
