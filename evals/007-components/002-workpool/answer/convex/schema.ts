import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  deliveries: defineTable({
    url: v.string(),
    message: v.string(),
    status: v.union(v.literal("pending"), v.literal("delivered"), v.literal("failed")),
    answer: v.optional(v.string()),
  }),
});
