import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  accounts: defineTable({
    owner: v.string(),
    cents: v.number(),
  }),
  entries: defineTable({
    accountId: v.id("accounts"),
    cents: v.number(),
  }).index("by_accountId", ["accountId"]),
});
