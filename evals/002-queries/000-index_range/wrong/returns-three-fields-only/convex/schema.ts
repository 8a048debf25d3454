import { defineSchema, defineTable } from "convex/server";
import { readingFields } from "./validators";

export default defineSchema({
  readings: defineTable(readingFields).index("by_station_and_at", [
    "station",
    "at",
  ]),
});
