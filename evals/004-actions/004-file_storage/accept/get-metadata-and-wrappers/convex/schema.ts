import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

const photos = defineTable({ album: v.string(), caption: v.string(), fileId: v.id("_storage") });

export default defineSchema({ photos: photos.index("albums", ["album"]).index("files", ["fileId", "album"]) });
