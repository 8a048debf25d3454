import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  tickets: defineTable({
    subject: v.string(),
    status: v.union(v.literal("open"), v.literal("closed")),
    lastActivity: v.number(),
  }).index("by_status_and_activity", ["status", "lastActivity"]),

  reports: defineTable({
    title: v.string(),
    openTickets: v.number(),
  }),
});
