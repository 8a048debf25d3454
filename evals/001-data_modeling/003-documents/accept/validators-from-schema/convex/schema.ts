import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

const ingredient = v.object({ amount: v.number(), name: v.string(), unit: v.optional(v.string()) });

const recipes = defineTable({
  author: v.object({
    site: v.optional(v.object({ title: v.nullable(v.string()), url: v.string() })),
    name: v.string(),
  }),
  ingredients: v.array(ingredient),
  nutrients: v.record(v.string(), v.float64()),
  rating: v.optional(v.float64()),
  servings: v.float64(),
  source: v.nullable(v.string()),
  title: v.string(),
});

export default defineSchema({ recipes });
