import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  requests: defineTable({
    song: v.string(),
    listener: v.optional(v.string()),
    status: v.union(v.literal("waiting"), v.literal("playing"), v.literal("played")),
  }).index("by_status", ["status"]),
});
