import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  links: defineTable({ clicks: v.number(), slug: v.string(), url: v.string() }).index("slug", ["slug", "url"]),
});
