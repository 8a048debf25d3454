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
  }).index("by_author", ["authorId"]),

  members: defineTable({
    name: v.string(),
  }),

  loans: defineTable({
    memberId: v.id("members"),
    bookId: v.id("books"),
    /** Milliseconds since 1970. */
    dueAt: v.number(),
    form: v.optional(v.string()),
  })
    .index("by_member_and_due", ["memberId", "dueAt"])
    .index("by_book", ["bookId"]),
});
