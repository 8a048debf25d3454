import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  items: defineTable({
    list: v.string(),
    name: v.string(),
    bought: v.boolean(),
  }).index("by_list", ["list"]),
  closures: defineTable({
    list: v.string(),
  }).index("by_list", ["list"]),
});
