import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  reminders: defineTable({
    text: v.string(),
    dueAt: v.number(),
    status: v.union(v.literal("waiting"), v.literal("sent"), v.literal("cancelled")),
    sentAt: v.optional(v.number()),
    jobId: v.optional(v.id("_scheduled_functions")),
  }),
});
