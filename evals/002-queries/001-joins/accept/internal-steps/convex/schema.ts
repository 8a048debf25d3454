import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

const named = { name: v.string() };

export default defineSchema({
  authors: defineTable(named),
  members: defineTable(named),
  books: defineTable({ title: v.string(), authorId: v.id("authors"), excerpt: v.optional(v.string()) }).index("byAuthor", ["authorId"]),
  loans: defineTable({ memberId: v.id("members"), bookId: v.id("books"), dueAt: v.float64(), form: v.optional(v.string()) })
    .index("memberDue", ["memberId", "dueAt"])
    .index("byBook", ["bookId"]),
});
