import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

const address = v.object({
  street: v.string(),
  city: v.string(),
});

const pickedUp = v.object({
  type: v.literal("pickedUp"),
  courier: v.string(),
});

const delivered = v.object({
  type: v.literal("delivered"),
  place: v.union(
    v.literal("door"),
    v.literal("locker"),
    v.literal("neighbour"),
  ),
  signedBy: v.nullable(v.string()),
});

const failed = v.object({
  type: v.literal("failed"),
  reason: v.string(),
  retryAt: v.optional(v.number()),
});

const eventDetails = v.union(pickedUp, delivered, failed);

export default defineSchema({
  customers: defineTable({
    name: v.string(),
    email: v.string(),
    address: v.optional(address),
  }).index("by_email", ["email"]),

  parcels: defineTable({
    customerId: v.id("customers"),
    weightGrams: v.number(),
    labels: v.array(v.string()),
  }).index("by_customerId", ["customerId"]),

  events: defineTable({
    parcelId: v.id("parcels"),
    at: v.number(),
    details: eventDetails,
  })
    .index("by_parcelId_and_at", ["parcelId", "at"])
    .index("by_type_and_at", ["details", "at"]),
});
