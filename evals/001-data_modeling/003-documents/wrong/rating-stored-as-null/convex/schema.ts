import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

export const author = v.object({
  name: v.string(),
  site: v.optional(v.object({ url: v.string(), title: v.union(v.string(), v.null()) })),
});

/** All fields of a recipe that are given when it is created. */
export const recipeFields = {
  title: v.string(),
  servings: v.number(),
  source: v.union(v.string(), v.null()),
  ingredients: v.array(
    v.object({
      name: v.string(),
      amount: v.number(),
      unit: v.optional(v.string()),
    }),
  ),
  nutrients: v.record(v.string(), v.number()),
  author,
};

export default defineSchema({
  recipes: defineTable({
    ...recipeFields,
    rating: v.optional(v.union(v.number(), v.null())),
  }),
});
