import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export const phoneLabel = v.union(
  v.literal("mobile"),
  v.literal("home"),
  v.literal("work"),
);

export const phone = v.object({
  label: phoneLabel,
  number: v.string(),
});

const commonFields = {
  name: v.string(),
  office: v.string(),
  photo: v.optional(v.string()),
};

/** The shape from before the migration. */
export const oldEmployee = v.object({
  ...commonFields,
  phone: v.string(),
});

/** The shape that everything is written in from now on. */
export const newEmployee = v.object({
  ...commonFields,
  phones: v.array(phone),
  remote: v.boolean(),
});

export default defineSchema({
  employees: defineTable(v.union(oldEmployee, newEmployee))
    .index("by_office_and_name", ["office", "name"])
    // Employees in the old shape have no `remote`: this index finds them.
    .index("by_remote", ["remote"]),
});
