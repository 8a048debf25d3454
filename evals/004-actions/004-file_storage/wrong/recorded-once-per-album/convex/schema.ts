import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  photos: defineTable({
    album: v.string(),
    caption: v.string(),
    fileId: v.id("_storage"),
  })
    .index("by_album", ["album"])
    .index("by_album_and_fileId", ["album", "fileId"]),
});
