import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  articles: defineTable({
    embedding: v.optional(v.array(v.number())),
    language: v.string(),
    text: v.string(),
    title: v.string(),
  })
    .index("language", ["language"])
    .vectorIndex("nearest", { vectorField: "embedding", filterFields: ["title", "language"], dimensions: 8 }),
});
