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
    const found = await ctx.vectorSearch("articles", "by_embedding", {
      vector: args.vector,
      limit: args.limit,
      filter: (q) => q.or(...args.languages.map((language) => q.eq("language", language))),
    });
    return await ctx.runQuery(internal.articles.load, { found });
  },
});

export const load = internalQuery({
  args: { found: v.array(v.object({ _id: v.id("articles"), _score: v.number() })) },
  returns: v.array(similarArticle),
  handler: async (ctx, args) => {
    const results: Infer<typeof similarArticle>[] = [];
    for (const { _id, _score } of args.found) {
      const article = await ctx.db.get("articles", _id);
      // It may have been deleted since the search.
      if (article === null) continue;
      results.push({ _id, title: article.title, language: article.language, score: _score });
    }
    return results;
  },
});
