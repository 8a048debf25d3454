import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  folders: defineTable({
    name: v.string(),
    trashedAt: v.optional(v.number()),
  }).index("by_trashedAt", ["trashedAt"]),
  pages: defineTable({
    folderId: v.id("folders"),
    title: v.string(),
    trashedAt: v.optional(v.number()),
  })
    .index("by_trashedAt", ["trashedAt"])
    .index("by_folderId_and_trashedAt", ["folderId", "trashedAt"]),
});
