import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  messages: defineTable({ body: v.string(), author: v.string() }),
  reminders: defineTable({ text: v.string(), jobId: v.union(v.id("_scheduled_functions"), v.null()), sent: v.number() }),
  ticks: defineTable({ source: v.string() }).index("by_source", ["source"]),
});
