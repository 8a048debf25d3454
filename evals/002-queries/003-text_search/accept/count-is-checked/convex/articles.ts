import { ConvexError, v } from "convex/values";
import type { Doc } from "./_generated/dataModel";
import { query, type QueryCtx } from "./_generated/server";

const MAX_COUNT = 10;

function newest(ctx: QueryCtx, language: string | undefined) {
  const articles = ctx.db.query("articles");
  return (
    language === undefined
      ? articles.withIndex("by_published", (q) => q.eq("published", true))
      : articles.withIndex("by_published_and_language", (q) =>
          q.eq("published", true).eq("language", language),
        )
  ).order("desc");
}

function mostRelevant(
  ctx: QueryCtx,
  text: string,
  language: string | undefined,
) {
  return ctx.db.query("articles").withSearchIndex("search_title", (q) => {
    const published = q.search("title", text).eq("published", true);
    return language === undefined
      ? published
      : published.eq("language", language);
  });
}

function toHit({ _id, title, language }: Doc<"articles">) {
  return { articleId: _id, title, language };
}

export const search = query({
  args: {
    text: v.string(),
    language: v.optional(v.string()),
    count: v.number(),
  },
  returns: v.array(
    v.object({
      articleId: v.id("articles"),
      title: v.string(),
      language: v.string(),
    }),
  ),
  handler: async (ctx, { text, language, count }) => {
    if (!Number.isInteger(count) || count < 1 || count > MAX_COUNT) {
      throw new ConvexError(`count must be a whole number from 1 to ${MAX_COUNT}`);
    }
    const articles =
      text.trim() === ""
        ? await newest(ctx, language).take(count)
        : await mostRelevant(ctx, text, language).take(count);
    return articles.map(toHit);
  },
});
