import { v } from "convex/values";
import { mutation, query } from "./_generated/server";
import schema from "./schema";

const fields = schema.tables.recipes.validator;
const recipe = schema.doc("recipes");
const changeable = fields.pick("title", "servings", "source", "author").partial();
const target = { recipeId: v.id("recipes") };

export const get = query({
  args: target,
  returns: v.nullable(recipe),
  handler: (ctx, { recipeId }) => ctx.db.get("recipes", recipeId),
});

export const list = query({
  args: {},
  returns: v.array(recipe),
  handler: async ({ db }) => (await db.query("recipes").collect()).reverse(),
});

export const create = mutation({
  args: fields.omit("rating"),
  returns: recipe,
  handler: async ({ db }, args) => (await db.get("recipes", await db.insert("recipes", args)))!,
});

export const update = mutation({
  args: { ...target, ...changeable.fields },
  returns: v.nullable(recipe),
  handler: async ({ db }, { recipeId, ...changes }) => {
    const before = await db.get("recipes", recipeId);
    if (!before) return null;
    const after = { ...before, ...changes };
    await db.replace("recipes", recipeId, after);
    return after;
  },
});

export const rate = mutation({
  args: { ...target, rating: v.nullable(v.number()) },
  returns: v.nullable(recipe),
  handler: async ({ db }, { recipeId, rating }) => {
    const before = await db.get("recipes", recipeId);
    if (!before) return null;
    const { rating: _, ...unrated } = before;
    const after = rating === null ? unrated : { ...unrated, rating };
    await db.replace("recipes", recipeId, after);
    return after;
  },
});

export const setNutrient = mutation({
  args: { ...target, nutrient: v.string(), grams: v.nullable(v.number()) },
  returns: v.nullable(recipe),
  handler: async ({ db }, { recipeId, nutrient, grams }) => {
    const before = await db.get("recipes", recipeId);
    if (!before) return null;
    const entries = Object.entries(before.nutrients).filter(([name]) => name !== nutrient);
    if (grams !== null) entries.push([nutrient, grams]);
    await db.patch("recipes", recipeId, { nutrients: Object.fromEntries(entries) });
    return await db.get("recipes", recipeId);
  },
});

export const remove = mutation({
  args: target,
  returns: v.nullable(recipe),
  handler: async ({ db }, { recipeId }) => {
    const before = await db.get("recipes", recipeId);
    if (!before) return null;
    await db.delete("recipes", recipeId);
    return before;
  },
});
