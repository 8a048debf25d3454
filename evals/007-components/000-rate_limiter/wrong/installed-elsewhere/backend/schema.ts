import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  comments: defineTable({
    author: v.string(),
    text: v.string(),
  }),
  buckets: defineTable({ author: v.string(), tokens: v.number(), at: v.number() }).index("by_author", ["author"]),
});
