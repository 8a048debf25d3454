import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  readings: defineTable({
    station: v.string(),
    at: v.number(),
    celsius: v.number(),
    raw: v.optional(v.string()),
  }).index("by_station", ["station"]),
});
