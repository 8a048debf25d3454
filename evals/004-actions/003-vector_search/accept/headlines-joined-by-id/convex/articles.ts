import { v, type Infer } from "convex/values";
import { internal } from "./_generated/api";
import { action, internalQuery } from "./_generated/server";
import { DIMENSIONS, MAX_LIMIT } from "./constants";

const headline = v.object({
  _id: v.id("articles"),
  title: v.string(),
  language: v.string(),
});
type Headline = Infer<typeof headline>;

const match = v.object({
  _id: v.id("articles"),
  title: v.string(),
  language: v.string(),
  score: v.number(),
});
type Match = Infer<typeof match>;

function checkLimit(limit: number) {
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LIMIT) {
    throw new Error(`limit must be a whole number from 1 to ${MAX_LIMIT}`);
  }
}

function checkVector(vector: number[]) {
  if (vector.length !== DIMENSIONS) {
    throw new Error(`vector must have ${DIMENSIONS} numbers`);
  }
}

export const similar = action({
  args: {
    vector: v.array(v.number()),
    languages: v.array(v.string()),
    limit: v.number(),
  },
  returns: v.array(match),
  handler: async (ctx, { vector, languages, limit }): Promise<Match[]> => {
    checkLimit(limit);
    if (languages.length === 0) {
      return [];
    }
    checkVector(vector);

    const hits = await ctx.vectorSearch("articles", "by_embedding", {
      vector,
      limit,
      filter: (q) =>
        q.or(...languages.map((language) => q.eq("language", language))),
    });

    const headlines: Headline[] = await ctx.runQuery(
      internal.articles.headlines,
      { ids: hits.map((hit) => hit._id) },
    );
    const byId = new Map(headlines.map((item) => [item._id, item]));
    return hits.flatMap(({ _id, _score }) => {
      const found = byId.get(_id);
      return found === undefined ? [] : [{ ...found, score: _score }];
    });
  },
});

/** The headlines of these articles; those deleted meanwhile are left out. */
export const headlines = internalQuery({
  args: { ids: v.array(v.id("articles")) },
  returns: v.array(headline),
  handler: async (ctx, { ids }) => {
    const found: Headline[] = [];
    for (const id of ids) {
      const article = await ctx.db.get("articles", id);
      if (article !== null) {
        const { _id, title, language } = article;
        found.push({ _id, title, language });
      }
    }
    return found;
  },
});
