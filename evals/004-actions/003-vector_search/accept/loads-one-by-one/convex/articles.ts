import { v } from "convex/values";
import { internal } from "./_generated/api";
import { action, internalQuery } from "./_generated/server";

const MOST = 256;

export const similar = action({
  args: v.object({ vector: v.array(v.number()), languages: v.array(v.string()), limit: v.number() }),
  handler: async (ctx, { vector, languages, limit }): Promise<Found[]> => {
    const allowed = limit >= 1 && limit <= MOST && limit % 1 === 0;
    if (!allowed) throw new RangeError(`limit ${limit} is not allowed`);
    if (!languages.length) return [];
    if (vector.length !== 8) throw new RangeError("vector has another length");
    const hits = await ctx.vectorSearch("articles", "embeddings", {
      vector,
      limit,
      filter: (q) => {
        const [first, ...more] = languages.map((language) => q.eq("language", language));
        return more.length === 0 ? first! : q.or(first!, ...more);
      },
    });
    const found = await Promise.all(hits.map(({ _id, _score }) => ctx.runQuery(internal.articles.one, { id: _id, score: _score })));
    return found.filter((article) => article !== null).sort((a, b) => b.score - a.score);
  },
});

type Found = { _id: string; title: string; language: string; score: number };

export const one = internalQuery({
  args: { id: v.id("articles"), score: v.float64() },
  handler: async (ctx, { id, score }): Promise<Found | null> => {
    const article = await ctx.db.get(id);
    return article && { _id: article._id, title: article.title, language: article.language, score };
  },
});
