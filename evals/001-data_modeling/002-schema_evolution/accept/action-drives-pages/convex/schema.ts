import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export const label = v.union(v.literal("mobile"), v.literal("home"), v.literal("work"));
export const phones = v.array(v.object({ label, number: v.string() }));

const modern = v.object({
  name: v.string(),
  office: v.string(),
  photo: v.optional(v.string()),
  remote: v.boolean(),
  phones,
});
const legacy = modern.omit("remote", "phones").extend({ phone: v.string() });

export default defineSchema({
  employees: defineTable(v.union(modern, legacy)).index("by_office_and_name", ["office", "name"]),
});
