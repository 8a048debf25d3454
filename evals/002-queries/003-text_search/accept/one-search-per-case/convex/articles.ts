import { v } from "convex/values";
import type { Doc } from "./_generated/dataModel";
import { query } from "./_generated/server";

const shown = ({ _id, title, language }: Doc<"articles">) => ({ articleId: _id, title, language });

export const search = query({
  args: { count: v.number(), language: v.optional(v.string()), text: v.string() },
  handler: async ({ db }, { count, language, ...args }) => {
    const text = args.text.trim().toLowerCase();
    if (text && language) {
      const found = await db
        .query("articles")
        .withSearchIndex("titles", (q) => q.search("title", text).eq("language", language).eq("published", true))
        .take(count);
      return found.map(shown);
    }
    if (text) {
      const found = await db
        .query("articles")
        .withSearchIndex("titles", (q) => q.search("title", text).eq("published", true))
        .take(count);
      return found.map(shown);
    }
    if (language) {
      const found = await db
        .query("articles")
        .withIndex("languages", (q) => q.eq("language", language).eq("published", true))
        .order("desc")
        .take(count);
      return found.map(shown);
    }
    const found = await db
      .query("articles")
      .withIndex("newest", (q) => q.eq("published", true))
      .order("desc")
      .take(count);
    return found.map(shown);
  },
});
