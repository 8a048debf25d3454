import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  entries: defineTable({
    author: v.string(),
    text: v.string(),
  }),
  auditEntries: defineTable({
    actor: v.string(),
    action: v.string(),
    detail: v.string(),
  }).index("by_actor", ["actor"]),
});
