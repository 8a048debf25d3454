import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  customers: defineTable({
    name: v.string(),
    email: v.string(),
    address: v.optional(v.object({ street: v.string(), city: v.string() })),
  }).index("by_email", ["email"]),

  parcels: defineTable({
    customerId: v.id("customers"),
    weightGrams: v.number(),
    labels: v.array(v.string()),
  }).index("by_customerId", ["customer"]),

  events: defineTable({
    parcelId: v.id("parcels"),
    at: v.number(),
    details: v.union(
      v.object({ type: v.literal("pickedUp"), courier: v.string() }),
      v.object({
        type: v.literal("delivered"),
        place: v.union(v.literal("door"), v.literal("locker"), v.literal("neighbour")),
        signedBy: v.union(v.string(), v.null()),
      }),
      v.object({
        type: v.literal("failed"),
        reason: v.string(),
        retryAt: v.optional(v.number()),
      }),
    ),
  })
    .index("by_parcelId_and_at", ["parcelId", "at"])
    .index("by_type_and_at", ["details.type", "at"]),
});
