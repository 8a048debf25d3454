import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export default defineSchema({ texts: defineTable({ text: v.string() }) });
