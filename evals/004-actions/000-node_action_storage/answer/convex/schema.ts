import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  entries: defineTable({
    account: v.string(),
    cents: v.number(),
  }).index("by_account", ["account"]),
  exports: defineTable({
    account: v.string(),
    fileId: v.id("_storage"),
    sha256: v.string(),
    entryCount: v.number(),
  }).index("by_account", ["account"]),
});
