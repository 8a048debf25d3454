import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

const readings = defineTable({
  station: v.string(),
  at: v.number(),
  celsius: v.number(),
  raw: v.optional(v.union(v.string())),
}).index("byStation", { fields: ["station", "at"] });

export default defineSchema({ readings }, { schemaValidation: true });
