import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  videos: defineTable({
    title: v.string(),
  }),
  likes: defineTable({
    videoId: v.id("videos"),
    user: v.string(),
  }).index("by_video_and_user", ["videoId", "user"]),
});
