import { v, type Infer } from "convex/values";
import { query } from "./_generated/server";

const similarArticle = v.object({
  _id: v.id("articles"),
  title: v.string(),
  language: v.string(),
  score: v.number(),
});

export const similar = query({
  args: { vector: v.array(v.float64()), languages: v.array(v.string()), limit: v.number() },
  returns: v.array(similarArticle),
  handler: async (ctx, args): Promise<Infer<typeof similarArticle>[]> => {
    if (!Number.isInteger(args.limit) || args.limit < 1 || args.limit > 256) {
      throw new Error("The limit must be a whole number from 1 to 256");
    }
    if (args.languages.length === 0) {
      return [];
    }
    const found = await ctx.vectorSearch("articles", "by_embedding", {
      vector: args.vector,
      limit: args.limit,
      filter: (q) => q.or(...args.languages.map((language) => q.eq("language", language))),
    });
    const results: Infer<typeof similarArticle>[] = [];
    for (const { _id, _score } of found) {
      const article = await ctx.db.get("articles", _id);
      if (article === null) continue;
      results.push({ _id, title: article.title, language: article.language, score: _score });
    }
    return results;
  },
});
