import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export const reading = {
  raw: v.optional(v.string()),
  celsius: v.number(),
  at: v.number(),
  station: v.string(),
};

export default defineSchema({
  readings: defineTable(reading).index("stationTime", ["station", "at"]).index("time", ["at"]),
});
