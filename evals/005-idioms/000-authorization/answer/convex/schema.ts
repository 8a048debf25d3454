import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  notes: defineTable({
    owner: v.string(),
    text: v.string(),
    pinned: v.boolean(),
  }).index("by_owner_and_pinned", ["owner", "pinned"]),
});
