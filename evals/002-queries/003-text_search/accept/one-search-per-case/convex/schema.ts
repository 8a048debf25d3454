import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

const article = { body: v.string(), published: v.boolean(), language: v.string(), title: v.string() };

export default defineSchema({
  articles: defineTable(article)
    .searchIndex("titles", { filterFields: ["language", "published"], searchField: "title" })
    .index("languages", ["language", "published"])
    .index("publications", ["published", "title"])
    .index("newest", { fields: ["published"] }),
});
