import { v } from "convex/values";
import { mutation, query } from "./_generated/server";
import { author, recipeFields } from "./schema";

const recipe = v.object({
  _id: v.id("recipes"),
  _creationTime: v.number(),
  ...recipeFields,
  rating: v.optional(v.number()),
});

export const create = mutation({
  args: recipeFields,
  returns: recipe,
  handler: async (ctx, args) => {
    const recipeId = await ctx.db.insert("recipes", args);
    const created = await ctx.db.get(recipeId);
    if (created === null) {
      throw new Error("The recipe was not stored");
    }
    return created;
  },
});

export const get = query({
  args: { recipeId: v.id("recipes") },
  returns: v.union(recipe, v.null()),
  handler: async (ctx, args) => {
    return await ctx.db.get(args.recipeId);
  },
});

export const list = query({
  args: {},
  returns: v.array(recipe),
  handler: async (ctx) => {
    return await ctx.db.query("recipes").order("desc").collect();
  },
});

export const update = mutation({
  args: {
    recipeId: v.id("recipes"),
    title: v.optional(v.string()),
    servings: v.optional(v.number()),
    source: v.optional(v.union(v.string(), v.null())),
    author: v.optional(author),
  },
  returns: v.union(recipe, v.null()),
  handler: async (ctx, args) => {
    const { recipeId, ...changes } = args;
    if ((await ctx.db.get(recipeId)) === null) {
      return null;
    }
    await ctx.db.patch(recipeId, changes);
    return await ctx.db.get(recipeId);
  },
});

export const rate = mutation({
  args: { recipeId: v.id("recipes"), rating: v.union(v.number(), v.null()) },
  returns: v.union(recipe, v.null()),
  handler: async (ctx, args) => {
    if ((await ctx.db.get(args.recipeId)) === null) {
      return null;
    }
    // A field that is patched with undefined is removed.
    await ctx.db.patch(args.recipeId, { rating: args.rating ?? undefined });
    return await ctx.db.get(args.recipeId);
  },
});

export const setNutrient = mutation({
  args: { recipeId: v.id("recipes"), nutrient: v.string(), grams: v.union(v.number(), v.null()) },
  returns: v.union(recipe, v.null()),
  handler: async (ctx, args) => {
    const stored = await ctx.db.get(args.recipeId);
    if (stored === null) {
      return null;
    }
    const nutrients = { ...stored.nutrients };
    if (args.grams === null) {
      delete nutrients[args.nutrient];
    } else {
      nutrients[args.nutrient] = args.grams;
    }
    await ctx.db.patch(args.recipeId, { nutrients });
    return { ...stored, nutrients };
  },
});

export const remove = mutation({
  args: { recipeId: v.id("recipes") },
  returns: v.union(recipe, v.null()),
  handler: async (ctx, args) => {
    const stored = await ctx.db.get(args.recipeId);
    await ctx.db.delete(args.recipeId);
    return stored;
  },
});
