import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  authors: defineTable({ name: v.string(), email: v.optional(v.string()), tags: v.array(v.string()) }).index("by_name", ["name"]),
  notes: defineTable({
    authorId: v.id("authors"),
    text: v.string(),
    state: v.union(v.literal("draft"), v.literal("published")),
    place: v.optional(v.object({ city: v.string(), zip: v.union(v.string(), v.null()) })),
  })
    .index("by_author", ["authorId", "state"])
    .searchIndex("by_text", { searchField: "text" }),
});
