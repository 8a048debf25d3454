import { v } from "convex/values";
import type { Doc } from "./_generated/dataModel";
import { query, type QueryCtx } from "./_generated/server";

/** The newest published articles. */
async function newest(ctx: QueryCtx, language: string | undefined, count: number): Promise<Doc<"articles">[]> {
  const articles =
    language === undefined
      ? ctx.db.query("articles").withIndex("by_published", (q) => q.eq("published", true))
      : ctx.db.query("articles").withIndex("by_published_and_language", (q) => q.eq("published", true).eq("language", language));
  return await articles.order("desc").take(count);
}

/** The published articles whose titles match best. */
async function matching(ctx: QueryCtx, text: string, language: string | undefined, count: number): Promise<Doc<"articles">[]> {
  const matches = await ctx.db
    .query("articles")
    .withSearchIndex("search_title", (q) => {
      const published = q.search("title", text).eq("published", true);
      return language === undefined ? published : published.eq("language", language);
    })
    .take(count * 2);
  return matches.slice(0, count);
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
  handler: async (ctx, args) => {
    const articles =
      args.text.trim() === ""
        ? await newest(ctx, args.language, args.count)
        : await matching(ctx, args.text, args.language, args.count);
    return articles.map((article) => ({
      articleId: article._id,
      title: article.title,
      language: article.language,
    }));
  },
});
