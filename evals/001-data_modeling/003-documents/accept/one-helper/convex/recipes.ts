import { v } from "convex/values";
import { mutation, query } from "./_generated/server";
import { change, recipe, recipeOrNull } from "./model/recipes";
import { recipeFields } from "./schema";

export const remove = mutation({
  args: { recipeId: v.id("recipes") },
  returns: recipeOrNull,
  async handler(ctx, { recipeId }) {
    const stored = await ctx.db.get(recipeId);
    if (stored) await ctx.db.delete(stored._id);
    return stored;
  },
});

export const setNutrient = mutation({
  args: { grams: v.union(v.null(), v.number()), nutrient: v.string(), recipeId: v.id("recipes") },
  returns: recipeOrNull,
  handler: (ctx, { recipeId, nutrient, grams }) =>
    change(ctx, recipeId, ({ nutrients: { [nutrient]: _, ...others } }) => ({
      nutrients: grams === null ? others : { ...others, [nutrient]: grams },
    })),
});

export const rate = mutation({
  args: { rating: v.union(v.null(), v.number()), recipeId: v.id("recipes") },
  returns: recipeOrNull,
  handler: (ctx, { recipeId, rating }) => change(ctx, recipeId, () => ({ rating: rating === null ? undefined : rating })),
});

export const update = mutation({
  args: {
    recipeId: v.id("recipes"),
    title: v.optional(recipeFields.title),
    servings: v.optional(recipeFields.servings),
    source: v.optional(recipeFields.source),
    author: v.optional(recipeFields.author),
  },
  returns: recipeOrNull,
  handler: (ctx, { recipeId, title, servings, source, author }) =>
    change(ctx, recipeId, () => ({
      ...(title !== undefined && { title }),
      ...(servings !== undefined && { servings }),
      ...(source !== undefined && { source }),
      ...(author !== undefined && { author }),
    })),
});

export const list = query({
  args: {},
  returns: v.array(recipe),
  handler: async (ctx) => {
    const recipes = await ctx.db.query("recipes").withIndex("by_creation_time").order("desc").collect();
    return recipes;
  },
});

export const get = query({
  args: { recipeId: v.id("recipes") },
  returns: recipeOrNull,
  handler: async (ctx, { recipeId }) => (await ctx.db.get(recipeId)) ?? null,
});

export const create = mutation({
  args: v.object(recipeFields),
  returns: recipe,
  handler: async (ctx, args) => {
    const id = await ctx.db.insert("recipes", { ...args, rating: undefined });
    return (await ctx.db.get(id)) ?? Promise.reject(new Error("gone"));
  },
});
