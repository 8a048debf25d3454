/** Vector search from an action, which then loads the documents, as in https://docs.convex.dev/search/vector-search */
import { v } from "convex/values";
import { internal } from "./_generated/api";
import type { Doc } from "./_generated/dataModel";
import { action, internalQuery, mutation } from "./_generated/server";

export const insert = mutation({
  args: { description: v.string(), cuisine: v.string(), embedding: v.array(v.float64()) },
  handler: async (ctx, food) => await ctx.db.insert("foods", food),
});

export const fetchResults = internalQuery({
  args: { ids: v.array(v.id("foods")) },
  handler: async (ctx, { ids }) => {
    const foods = await Promise.all(ids.map((id) => ctx.db.get(id)));
    return foods.filter((food) => food !== null);
  },
});

export const similarFoods = action({
  args: { vector: v.array(v.float64()), cuisines: v.array(v.string()), limit: v.number() },
  handler: async (ctx, { vector, cuisines, limit }): Promise<{ description: string; score: number }[]> => {
    const results = await ctx.vectorSearch("foods", "by_embedding", {
      vector,
      limit,
      ...(cuisines.length > 0 ? { filter: (q) => q.or(...cuisines.map((cuisine) => q.eq("cuisine", cuisine))) } : {}),
    });
    const foods: Doc<"foods">[] = await ctx.runQuery(internal.foods.fetchResults, { ids: results.map(({ _id }) => _id) });
    return results.map(({ _id, _score }) => ({ description: foods.find((food) => food._id === _id)?.description ?? "", score: _score }));
  },
});
