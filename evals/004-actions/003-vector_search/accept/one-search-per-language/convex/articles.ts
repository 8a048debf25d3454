import { ConvexError, v } from "convex/values";
import { internal } from "./_generated/api";
import type { Doc, Id } from "./_generated/dataModel";
import { action } from "./_generated/server";

type Result = Pick<Doc<"articles">, "_id" | "title" | "language"> & { score: number };

export const similar = action({
  args: { languages: v.array(v.string()), limit: v.number(), vector: v.array(v.number()) },
  handler: async (ctx, { languages, limit, vector }) => {
    if (![...Array(256).keys()].includes(limit - 1)) throw new ConvexError("limit");
    const scores = new Map<Id<"articles">, number>();
    for (const language of languages) {
      const hits = await ctx.vectorSearch("articles", "nearest", { vector, limit, filter: (q) => q.eq("language", language) });
      for (const { _id, _score } of hits) scores.set(_id, _score);
    }
    const best = [...scores].sort(([, a], [, b]) => b - a).slice(0, limit);
    const loaded = await ctx.runQuery(internal.read.titles.default, { ids: best.map(([id]) => id) });
    return best.flatMap(([id, score]): Result[] => {
      const article = loaded.find(({ _id }) => _id === id);
      return article ? [{ ...article, score }] : [];
    });
  },
});
