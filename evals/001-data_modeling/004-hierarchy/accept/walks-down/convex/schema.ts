import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export const folder = {
  note: v.optional(v.string()),
  position: v.number(),
  name: v.string(),
  parentId: v.optional(v.id("folders")),
};

export default defineSchema({ folders: defineTable(folder).index("parent", ["parentId"]) });
