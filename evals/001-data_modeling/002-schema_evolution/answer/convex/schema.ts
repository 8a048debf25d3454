import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export const label = v.union(v.literal("mobile"), v.literal("home"), v.literal("work"));
export const phones = v.array(v.object({ label, number: v.string() }));

const common = {
  name: v.string(),
  office: v.string(),
  photo: v.optional(v.string()),
};

export default defineSchema({
  employees: defineTable(
    v.union(
      // Until the migration has run.
      v.object({ ...common, phone: v.string() }),
      v.object({ ...common, phones, remote: v.boolean() }),
    ),
  ).index("by_office_and_name", ["office", "name"]),
});
