import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";
import { statuses } from "./model/statuses";

export default defineSchema({
  agents: defineTable({ name: v.string() }),
  tickets: defineTable({
    subject: v.string(),
    status: v.union(...statuses.map((status) => v.literal(status))),
    priority: v.number(),
    agentId: v.optional(v.id("agents")),
    log: v.optional(v.string()),
  })
    .index("by_status", ["status", "priority"])
    .index("by_rank", ["priority"]),
});
