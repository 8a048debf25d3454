import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export const status = v.union(v.literal("closed"), v.literal("open"));

export default defineSchema({
  tickets: defineTable({
    agentId: v.optional(v.id("agents")),
    log: v.optional(v.string()),
    priority: v.number(),
    status,
    subject: v.string(),
  })
    .index("statusPriority", ["status", "priority"])
    .index("priority", ["priority"])
    .index("agent", ["agentId"]),
  agents: defineTable({ name: v.string() }),
});
