import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  articles: defineTable({ title: v.string(), language: v.string(), published: v.boolean(), body: v.string() })
    .index("byState", ["published"])
    .index("byStateAndLanguage", ["published", "language"])
    .searchIndex("byTitle", { searchField: "title", filterFields: ["published", "language"] })
    .searchIndex("byBody", { searchField: "body" }),
});
