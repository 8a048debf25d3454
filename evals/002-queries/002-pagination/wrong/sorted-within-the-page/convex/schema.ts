import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  agents: defineTable({
    name: v.string(),
  }),
  tickets: defineTable({
    subject: v.string(),
    status: v.union(v.literal("open"), v.literal("closed")),
    priority: v.number(),
    agentId: v.optional(v.id("agents")),
    log: v.optional(v.string()),
  }).index("by_status", ["status"]),
});
