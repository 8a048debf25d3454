import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export const label = v.union(v.literal("mobile"), v.literal("home"), v.literal("work"));
export const phones = v.array(v.object({ label, number: v.string() }));

export default defineSchema({
  employees: defineTable({
    name: v.string(),
    office: v.string(),
    photo: v.optional(v.string()),
    phone: v.optional(v.string()),
    phones: v.optional(phones),
    remote: v.boolean(),
  }).index("by_office_and_name", ["office", "name"]),
});
