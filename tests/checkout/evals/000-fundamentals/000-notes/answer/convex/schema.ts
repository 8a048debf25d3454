import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  notes: defineTable({
    title: v.string(),
    slug: v.string(),
    tags: v.array(v.string()),
    pinned: v.optional(v.boolean()),
  })
    .index("by_slug", ["slug"])
    .index("by_title", { fields: ["title"], staged: true }),
});
