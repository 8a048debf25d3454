import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export const productFields = { cents: v.number(), name: v.string(), sku: v.string() };

export default defineSchema({ products: defineTable(productFields).index("sku", ["sku"]) });
