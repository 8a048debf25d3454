import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  accounts: defineTable({ cents: v.number(), owner: v.string() }).index("by_owner", ["owner"]),
  entries: defineTable({ cents: v.number(), accountId: v.id("accounts") }).index("by_account", ["accountId"]),
});
