import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

const phone = v.object({
  number: v.string(),
  label: v.union(v.literal("work"), v.literal("home"), v.literal("mobile")),
});

export default defineSchema({
  employees: defineTable({
    name: v.string(),
    office: v.string(),
    photo: v.optional(v.string()),
    /** @deprecated in favour of `phones` */
    phone: v.optional(v.string()),
    phones: v.optional(v.array(phone)),
    remote: v.optional(v.boolean()),
  })
    .index("office", ["office"])
    .index("deprecatedPhone", ["phone"]),
});
