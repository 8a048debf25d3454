import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  articles: defineTable({
    title: v.string(),
    language: v.string(),
    published: v.boolean(),
    body: v.string(),
  })
    .index("by_published_and_language", ["published", "language"])
    .searchIndex("search_title", {
      searchField: "title",
      filterFields: ["published", "language"],
    }),
});
