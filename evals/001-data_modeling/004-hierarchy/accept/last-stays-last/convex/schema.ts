import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  folders: defineTable({
    name: v.string(),
    // Absent for the folders at the top.
    parentId: v.optional(v.id("folders")),
    position: v.number(),
    note: v.optional(v.string()),
  }).index("by_parentId_and_position", ["parentId", "position"]),
});
