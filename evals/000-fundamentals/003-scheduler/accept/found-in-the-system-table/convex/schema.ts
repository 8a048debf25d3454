import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

const fields = { text: v.string(), dueAt: v.number() };

export default defineSchema({
  reminders: defineTable(
    v.union(
      v.object({ ...fields, status: v.union(v.literal("waiting"), v.literal("cancelled")) }),
      v.object({ ...fields, status: v.literal("sent"), sentAt: v.number() }),
    ),
  ),
});
