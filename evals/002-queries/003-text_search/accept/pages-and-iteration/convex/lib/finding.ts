import type { Doc } from "../_generated/dataModel";
import type { QueryCtx } from "../_generated/server";

export interface Wanted {
  language?: string;
  count: number;
}

export async function byText(ctx: QueryCtx, text: string, { language, count }: Wanted): Promise<Doc<"articles">[]> {
  const { page } = await ctx.db
    .query("articles")
    .withSearchIndex("byTitle", (search) => {
      let filter = search.search("title", text);
      if (language !== undefined) filter = filter.eq("language", language);
      return filter.eq("published", true);
    })
    .paginate({ cursor: null, numItems: count });
  return page;
}

export async function byAge(ctx: QueryCtx, { language, count }: Wanted): Promise<Doc<"articles">[]> {
  const articles = ctx.db.query("articles");
  const range =
    language !== undefined
      ? articles.withIndex("byStateAndLanguage", (q) => q.eq("published", true).eq("language", language))
      : articles.withIndex("byState", (q) => q.eq("published", true));
  const found: Doc<"articles">[] = [];
  for await (const article of range.order("desc")) {
    found.push(article);
    if (found.length === count) break;
  }
  return found;
}
