import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";

const ingredient = v.object({
  name: v.string(),
  amount: v.number(),
  unit: v.optional(v.string()),
});

const author = v.object({
  name: v.string(),
  site: v.optional(
    v.object({
      url: v.string(),
      title: v.nullable(v.string()),
    }),
  ),
});

/** Everything a cook enters; the rating comes later. */
export const enteredFields = {
  title: v.string(),
  servings: v.number(),
  source: v.nullable(v.string()),
  ingredients: v.array(ingredient),
  nutrients: v.record(v.string(), v.number()),
  author,
};

export default defineSchema({
  recipes: defineTable({
    ...enteredFields,
    rating: v.optional(v.number()),
  }),
});
