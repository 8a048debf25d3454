import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  posts: defineTable({ author: v.string(), body: v.string(), likes: v.number() })
    .index("by_author", ["author", "likes"])
    .searchIndex("search_body", { searchField: "body", filterFields: ["author"] }),
});
