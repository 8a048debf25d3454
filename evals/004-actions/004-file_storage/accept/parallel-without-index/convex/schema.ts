import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  photos: defineTable({ fileId: v.id("_storage"), caption: v.string(), album: v.string() }),
});
