import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  reminders: defineTable({
    dueAt: v.number(),
    sentAt: v.optional(v.number()),
    status: v.union(v.literal("cancelled"), v.literal("sent"), v.literal("waiting")),
    text: v.string(),
  }),
  deliveries: defineTable({
    reminderId: v.id("reminders"),
    jobId: v.id("_scheduled_functions"),
  }).index("reminder", ["reminderId"]),
});
