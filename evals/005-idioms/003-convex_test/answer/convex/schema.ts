import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  reservations: defineTable({
    room: v.string(),
    from: v.number(),
    to: v.number(),
    user: v.string(),
    confirmed: v.boolean(),
  })
    .index("by_room", ["room"])
    .index("by_user_and_from", ["user", "from"]),
});
