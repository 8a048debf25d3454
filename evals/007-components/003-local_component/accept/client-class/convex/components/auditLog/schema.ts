import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export const line = { actor: v.string(), action: v.string(), detail: v.string() };

export default defineSchema({
  entries: defineTable(line).index("actorAndAction", ["actor", "action"]),
});
