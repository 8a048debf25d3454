import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";
import { event } from "./validators";

const events = defineTable(event)
  .index("by_type_and_at", ["details.type", "at"])
  .index("by_parcelId_and_at", ["parcelId", "at"]);

const parcels = defineTable({
  labels: v.array(v.string()),
  weightGrams: v.float64(),
  customerId: v.id("customers"),
}).index("by_customerId", ["customerId"]);

const customers = defineTable({
  address: v.optional(v.object({ city: v.string(), street: v.string() })),
  email: v.string(),
  name: v.string(),
}).index("by_email", ["email"]);

export default defineSchema({ events, parcels, customers });
