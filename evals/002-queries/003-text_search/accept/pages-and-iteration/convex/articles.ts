import { v } from "convex/values";
import { query } from "./_generated/server";
import { byAge, byText } from "./lib/finding";

export const search = query({
  args: v.object({ text: v.string(), language: v.optional(v.string()), count: v.number() }),
  returns: v.array(v.object({ articleId: v.id("articles"), language: v.string(), title: v.string() })),
  async handler(ctx, { text, ...wanted }) {
    const found = /\S/.test(text) ? await byText(ctx, text, wanted) : await byAge(ctx, wanted);
    return found.map(({ _id, language, title }) => ({ articleId: _id, language, title }));
  },
});
