import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

const status = v.union(v.literal("closed"), v.literal("open"));

export default defineSchema({
  reports: defineTable({ openTickets: v.number(), title: v.string() }),
  tickets: defineTable({ lastActivity: v.number(), status, subject: v.string() }).index("by_status", ["status", "lastActivity"]),
});
