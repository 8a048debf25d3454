import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export const ticketStatus = v.union(v.literal("open"), v.literal("closed"));

export default defineSchema({
  agents: defineTable({
    name: v.string(),
  }),

  tickets: defineTable({
    subject: v.string(),
    status: ticketStatus,
    priority: v.number(),
    agentId: v.optional(v.id("agents")),
    log: v.optional(v.string()),
  })
    .index("by_priority", ["priority"])
    .index("by_status_and_priority", ["status", "priority"]),
});
