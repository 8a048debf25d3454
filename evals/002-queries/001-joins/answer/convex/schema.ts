import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  authors: defineTable({
    name: v.string(),
  }),
  books: defineTable({
    title: v.string(),
    authorId: v.id("authors"),
    excerpt: v.optional(v.string()),
  }).index("by_authorId", ["authorId"]),
  members: defineTable({
    name: v.string(),
  }),
  loans: defineTable({
    memberId: v.id("members"),
    bookId: v.id("books"),
    dueAt: v.number(),
    form: v.optional(v.string()),
  })
    .index("by_memberId_and_dueAt", ["memberId", "dueAt"])
    .index("by_bookId", ["bookId"]),
});
