import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

const folders = defineTable({
  name: v.string(),
  position: v.float64(),
  parentId: v.optional(v.id("folders")),
  note: v.optional(v.string()),
});

export default defineSchema({ folders: folders.index("order", ["parentId", "position", "name"]) });
