import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  tickets: defineTable({
    subject: v.string(),
    status: v.union(v.literal("open"), v.literal("closed")),
    lastActivity: v.number(),
  })
    .index("by_status", ["status"])
    .index("by_activity", ["lastActivity"]),

  reports: defineTable({
    title: v.string(),
    openTickets: v.number(),
  }),
});
