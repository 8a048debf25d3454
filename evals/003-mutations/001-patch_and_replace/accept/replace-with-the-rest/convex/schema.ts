import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export const contactFields = {
  address: v.optional(v.object({ country: v.optional(v.string()), city: v.string(), street: v.string() })),
  phone: v.optional(v.string()),
  email: v.optional(v.string()),
  favourite: v.boolean(),
  name: v.string(),
};

export default defineSchema({
  contacts: defineTable(contactFields).index("by_name", ["name"]),
});
