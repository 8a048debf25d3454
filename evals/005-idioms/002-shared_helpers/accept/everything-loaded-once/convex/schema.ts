import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

const trashedAt = v.optional(v.number());

export default defineSchema({
  folders: defineTable({ name: v.string(), trashedAt }),
  pages: defineTable({ title: v.string(), folderId: v.id("folders"), trashedAt }),
});
