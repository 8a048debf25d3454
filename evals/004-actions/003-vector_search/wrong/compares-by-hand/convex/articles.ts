import { v, type Infer } from "convex/values";
import { internal } from "./_generated/api";
import { action, internalQuery } from "./_generated/server";

const similarArticle = v.object({
  _id: v.id("articles"),
  title: v.string(),
  language: v.string(),
  score: v.number(),
});

export const similar = action({
  args: { vector: v.array(v.float64()), languages: v.array(v.string()), limit: v.number() },
  returns: v.array(similarArticle),
  handler: async (ctx, args): Promise<Infer<typeof similarArticle>[]> => {
    if (!Number.isInteger(args.limit) || args.limit < 1 || args.limit > 256) {
      throw new Error("The limit must be a whole number from 1 to 256");
    }
    if (args.languages.length === 0) {
      return [];
    }
    return await ctx.runQuery(internal.articles.nearest, args);
  },
});

export const nearest = internalQuery({
  args: { vector: v.array(v.float64()), languages: v.array(v.string()), limit: v.number() },
  returns: v.array(similarArticle),
  handler: async (ctx, args) => {
    if (args.vector.length !== 8) {
      throw new Error("The vector must have 8 numbers");
    }
    const results: Infer<typeof similarArticle>[] = [];
    for (const { _id, title, language, embedding } of await ctx.db.query("articles").collect()) {
      if (embedding === undefined || !args.languages.includes(language)) continue;
      results.push({ _id, title, language, score: cosine(args.vector, embedding) });
    }
    return results.sort((a, b) => b.score - a.score).slice(0, args.limit);
  },
});

function cosine(a: number[], b: number[]): number {
  const dot = a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0);
  return dot / (Math.hypot(...a) * Math.hypot(...b));
}
