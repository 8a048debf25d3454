import { v } from "convex/values";

export const address = v.object({
  street: v.string(),
  city: v.string(),
  country: v.optional(v.string()),
});

export const contact = v.object({
  name: v.string(),
  favourite: v.boolean(),
  email: v.optional(v.string()),
  phone: v.optional(v.string()),
  address: v.optional(address),
});
