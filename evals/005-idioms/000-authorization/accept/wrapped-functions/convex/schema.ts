import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

const notes = defineTable({ pinned: v.boolean(), text: v.string(), owner: v.string() }).index("owner", ["owner"]);

export default defineSchema({ notes });
