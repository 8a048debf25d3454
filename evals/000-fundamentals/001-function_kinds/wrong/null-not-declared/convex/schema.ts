import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export const requestStatus = v.union(
  v.literal("waiting"),
  v.literal("playing"),
  v.literal("played"),
);

export const requestFields = {
  song: v.string(),
  listener: v.optional(v.string()),
  status: requestStatus,
};

export default defineSchema({
  requests: defineTable(requestFields).index("by_status", ["status"]),
});
