import { v } from "convex/values";
import type { Doc, Id } from "../_generated/dataModel";
import type { MutationCtx } from "../_generated/server";
import { recipeFields } from "../schema";

export const recipe = v.object({
  ...recipeFields,
  rating: v.optional(v.number()),
  _creationTime: v.number(),
  _id: v.id("recipes"),
});
export const recipeOrNull = v.union(v.null(), recipe);

type Fields = Omit<Doc<"recipes">, "_id" | "_creationTime">;

/** Patches a recipe with what `changes` makes of it. */
export async function change(ctx: MutationCtx, id: Id<"recipes">, changes: (stored: Doc<"recipes">) => Partial<Fields>) {
  const stored = await ctx.db.get(id);
  if (!stored) return null;
  await ctx.db.patch(id, changes(stored));
  return ctx.db.get(id);
}
