import { v, type Infer } from "convex/values";
import { internal } from "./_generated/api";
import { internalQuery, query } from "./_generated/server";

const described = v.object({
  author: v.nullable(v.string()),
  dueAt: v.float64(),
  loanId: v.id("loans"),
  title: v.nullable(v.string()),
});
const reader = v.object({ memberId: v.id("members"), name: v.string(), titles: v.array(v.string()) });

export const bookOf = internalQuery({
  args: { bookId: v.id("books") },
  returns: v.object({ title: v.nullable(v.string()), author: v.nullable(v.string()) }),
  handler: async (ctx, { bookId }) => {
    const book = await ctx.db.get("books", bookId);
    if (book === null) return { title: null, author: null };
    const author = await ctx.db.get("authors", book.authorId);
    return { title: book.title, author: author && author.name };
  },
});

export const ofMember = query({
  args: { memberId: v.id("members") },
  returns: v.nullable(v.array(described)),
  handler: async (ctx, { memberId }) => {
    const [member, loans] = await Promise.all([
      ctx.db.get("members", memberId),
      ctx.db
        .query("loans")
        .withIndex("memberDue", (q) => q.eq("memberId", memberId))
        .order("asc")
        .collect(),
    ]);
    if (member === null) return null;
    const result: Infer<typeof described>[] = [];
    for (const { _id: loanId, bookId, dueAt } of loans) {
      const book: { title: string | null; author: string | null } = await ctx.runQuery(internal.loans.bookOf, { bookId });
      result.push({ loanId, dueAt, ...book });
    }
    return result;
  },
});

export const readersOf = query({
  args: { authorId: v.id("authors") },
  returns: v.nullable(v.array(reader)),
  handler: async (ctx, { authorId }) => {
    if ((await ctx.db.get("authors", authorId)) === null) return null;
    const readers: Record<string, Infer<typeof reader>> = {};
    for await (const { _id, title } of ctx.db.query("books").withIndex("byAuthor", (q) => q.eq("authorId", authorId))) {
      for await (const { memberId } of ctx.db.query("loans").withIndex("byBook", (q) => q.eq("bookId", _id))) {
        const member = await ctx.db.get("members", memberId);
        if (member === null) continue;
        readers[memberId] ??= { memberId, name: member.name, titles: [] };
        readers[memberId].titles.push(title);
      }
    }
    const byText = (a: string, b: string) => (a === b ? 0 : a > b ? 1 : -1);
    return Object.values(readers)
      .map((one) => ({ ...one, titles: [...one.titles].sort(byText) }))
      .sort((a, b) => byText(a.name, b.name));
  },
});
