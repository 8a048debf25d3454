import type { WithoutSystemFields } from "convex/server";
import { v } from "convex/values";
import type { Doc, Id } from "./_generated/dataModel";
import { mutation, query, type MutationCtx } from "./_generated/server";
import schema, { enteredFields } from "./schema";

type Recipe = Doc<"recipes">;
type Changes = Partial<WithoutSystemFields<Recipe>>;

const recipeDoc = schema.doc("recipes");
const recipeId = v.id("recipes");

/** Applies the changes and returns the changed recipe, or null if it is gone. */
async function change(
  ctx: MutationCtx,
  id: Id<"recipes">,
  changesTo: (recipe: Recipe) => Changes,
): Promise<Recipe | null> {
  const recipe = await ctx.db.get("recipes", id);
  if (recipe === null) {
    return null;
  }
  await ctx.db.patch("recipes", id, changesTo(recipe));
  return await ctx.db.get("recipes", id);
}

export const create = mutation({
  args: enteredFields,
  returns: recipeDoc,
  handler: async (ctx, fields) => {
    const id = await ctx.db.insert("recipes", fields);
    const recipe = await ctx.db.get("recipes", id);
    if (recipe === null) {
      throw new Error("The recipe that was just stored is missing");
    }
    return recipe;
  },
});

export const get = query({
  args: { recipeId },
  returns: v.nullable(recipeDoc),
  handler: async (ctx, args) => await ctx.db.get("recipes", args.recipeId),
});

export const list = query({
  args: {},
  returns: v.array(recipeDoc),
  handler: async (ctx) => await ctx.db.query("recipes").order("desc").collect(),
});

export const update = mutation({
  args: {
    recipeId,
    title: v.optional(enteredFields.title),
    servings: v.optional(enteredFields.servings),
    source: v.optional(enteredFields.source),
    author: v.optional(enteredFields.author),
  },
  returns: v.nullable(recipeDoc),
  handler: async (ctx, args) =>
    await change(ctx, args.recipeId, (recipe) => ({
      title: args.title ?? recipe.title,
      servings: args.servings ?? recipe.servings,
      source: args.source ?? recipe.source,
      author: args.author ?? recipe.author,
    })),
});

export const rate = mutation({
  args: { recipeId, rating: v.nullable(v.number()) },
  returns: v.nullable(recipeDoc),
  handler: async (ctx, args) =>
    await change(ctx, args.recipeId, () => ({
      // A field that is patched with undefined is removed.
      rating: args.rating === null ? undefined : args.rating,
    })),
});

export const setNutrient = mutation({
  args: { recipeId, nutrient: v.string(), grams: v.nullable(v.number()) },
  returns: v.nullable(recipeDoc),
  handler: async (ctx, { recipeId: id, nutrient, grams }) =>
    await change(ctx, id, ({ nutrients }) => {
      // A patch replaces `nutrients` as a whole, so the others are copied.
      const kept = Object.entries(nutrients).filter(
        ([name]) => name !== nutrient,
      );
      if (grams !== null) {
        kept.push([nutrient, grams]);
      }
      return { nutrients: Object.fromEntries(kept) };
    }),
});

export const remove = mutation({
  args: { recipeId },
  returns: v.nullable(recipeDoc),
  handler: async (ctx, args) => {
    const recipe = await ctx.db.get("recipes", args.recipeId);
    if (recipe !== null) {
      await ctx.db.delete("recipes", recipe._id);
    }
    return recipe;
  },
});
