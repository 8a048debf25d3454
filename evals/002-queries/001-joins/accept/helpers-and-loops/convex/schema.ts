import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  loans: defineTable({
    bookId: v.id("books"),
    dueAt: v.number(),
    form: v.optional(v.string()),
    memberId: v.id("members"),
  })
    .index("book", ["bookId", "memberId"])
    .index("member", ["memberId"]),
  members: defineTable({ name: v.string() }),
  books: defineTable({
    authorId: v.id("authors"),
    excerpt: v.optional(v.string()),
    title: v.string(),
  }).index("author", ["authorId", "title"]),
  authors: defineTable({ name: v.string() }).index("name", ["name"]),
});
