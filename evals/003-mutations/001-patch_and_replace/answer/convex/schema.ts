import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export const addressValidator = v.object({
  street: v.string(),
  city: v.string(),
  country: v.optional(v.string()),
});

export const contactValidator = v.object({
  name: v.string(),
  favourite: v.boolean(),
  email: v.optional(v.string()),
  phone: v.optional(v.string()),
  address: v.optional(addressValidator),
});

export default defineSchema({
  contacts: defineTable(contactValidator),
});
