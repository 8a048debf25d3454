import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  messages: defineTable({ room: v.string(), author: v.string(), body: v.string() }).index("by_room", ["room"]),
  presence: defineTable({ room: v.string(), user: v.string(), typing: v.boolean(), seenMs: v.number() })
    .index("by_room", ["room", "seenMs"])
    .index("by_room_and_user", ["room", "user"]),
});
