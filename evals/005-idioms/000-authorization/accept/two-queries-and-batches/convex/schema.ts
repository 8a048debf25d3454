import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  notes: defineTable(
    v.object({
      pinned: v.boolean(),
      owner: v.string(),
      text: v.string(),
    }),
  ).index("by_owner_pinned", ["owner", "pinned"]),
});
