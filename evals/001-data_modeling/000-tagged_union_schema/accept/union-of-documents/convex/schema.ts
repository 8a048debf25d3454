import { defineSchema, defineTable } from "convex/server";
import { v, type GenericValidator } from "convex/values";

/** An event of one kind as a whole document. */
function eventWith<T extends GenericValidator>(details: T) {
  return v.object({ parcelId: v.id("parcels"), at: v.number(), details });
}

const places = ["door", "locker", "neighbour"] as const;

export default defineSchema({
  parcels: defineTable(
    v.object({
      customerId: v.id("customers"),
      weightGrams: v.number(),
      labels: v.array(v.string()),
    }),
  )
    .index("by_customerId", ["customerId"])
    .index("by_weight", ["weightGrams"]),

  customers: defineTable({
    name: v.string(),
    email: v.string(),
    address: v.optional(v.object({ street: v.string(), city: v.string() })),
  }).index("by_email", { fields: ["email"] }),

  events: defineTable(
    v.union(
      eventWith(v.object({ type: v.literal("pickedUp"), courier: v.string() })),
      eventWith(
        v.object({
          type: v.literal("delivered"),
          place: v.union(...places.map((place) => v.literal(place))),
          signedBy: v.nullable(v.string()),
        }),
      ),
      eventWith(v.object({ type: v.literal("failed"), reason: v.string() })),
      eventWith(v.object({ type: v.literal("failed"), reason: v.string(), retryAt: v.number() })),
    ),
  )
    .index("by_parcelId_and_at", ["parcelId", "at"])
    .index("by_type_and_at", ["details.type", "at"]),

  depots: defineTable({ name: v.string() }),
});
