import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  folders: defineTable({
    name: v.string(),
    parentId: v.union(v.id("folders"), v.null()),
    position: v.number(),
    note: v.optional(v.string()),
  }).index("by_parentId_and_position", ["parentId", "position"]),
});
