import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({
  exports: defineTable({ account: v.string(), entryCount: v.number(), fileId: v.id("_storage"), sha256: v.string() }).index("account", ["account"]),
  entries: defineTable({ account: v.string(), cents: v.number() }).index("account", ["account"]),
});
