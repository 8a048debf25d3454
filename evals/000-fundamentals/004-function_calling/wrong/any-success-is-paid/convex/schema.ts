import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  events: defineTable({
    name: v.string(),
    priceCents: v.number(),
    freeSeats: v.number(),
    paymentUrl: v.string(),
  }),

  orders: defineTable({
    eventId: v.id("events"),
    buyer: v.string(),
    seats: v.number(),
    status: v.union(
      v.literal("held"),
      v.literal("paid"),
      v.literal("released"),
    ),
    paymentId: v.optional(v.string()),
  }).index("by_event_and_status", ["eventId", "status"]),
});
