import { v, type Infer } from "convex/values";
import type { Id } from "./_generated/dataModel";
import { query } from "./_generated/server";
import { alphabetically, once } from "./util";

const nullableString = v.union(v.string(), v.null());

const loanOfMember = v.object({
  loanId: v.id("loans"),
  dueAt: v.number(),
  title: nullableString,
  author: nullableString,
});

const reader = v.object({
  memberId: v.id("members"),
  name: v.string(),
  titles: v.array(v.string()),
});

export const ofMember = query({
  args: { memberId: v.id("members") },
  returns: v.union(v.array(loanOfMember), v.null()),
  handler: async (ctx, { memberId }) => {
    // Loans with the same `dueAt` come in the order in which they were stored.
    const loans = await ctx.db
      .query("loans")
      .withIndex("by_member_and_due", (q) => q.eq("memberId", memberId))
      .collect();
    if (loans.length === 0) {
      const member = await ctx.db.get("members", memberId);
      return member === null ? null : [];
    }

    // Books can be big, so none is read twice.
    const bookById = once((id: Id<"books">) => ctx.db.get("books", id));
    const authorById = once((id: Id<"authors">) => ctx.db.get("authors", id));

    return await Promise.all(
      loans.map(async ({ _id: loanId, dueAt, bookId }) => {
        const book = await bookById(bookId);
        const author = book === null ? null : await authorById(book.authorId);
        return {
          loanId,
          dueAt,
          title: book?.title ?? null,
          author: author?.name ?? null,
        };
      }),
    );
  },
});

export const readersOf = query({
  args: { authorId: v.id("authors") },
  returns: v.union(v.array(reader), v.null()),
  handler: async (ctx, { authorId }) => {
    const author = await ctx.db.get("authors", authorId);
    if (author === null) return null;

    const titlesByMember = new Map<Id<"members">, string[]>();
    const books = ctx.db
      .query("books")
      .withIndex("by_author", (q) => q.eq("authorId", authorId));
    for await (const { _id: bookId, title } of books) {
      const loans = ctx.db
        .query("loans")
        .withIndex("by_book", (q) => q.eq("bookId", bookId));
      for await (const { memberId } of loans) {
        const titles = titlesByMember.get(memberId);
        if (titles === undefined) {
          titlesByMember.set(memberId, [title]);
        } else {
          titles.push(title);
        }
      }
    }

    const readers: Infer<typeof reader>[] = [];
    for (const [memberId, titles] of titlesByMember) {
      const member = await ctx.db.get("members", memberId);
      if (member === null) continue;
      readers.push({
        memberId,
        name: member.name,
        titles: titles.sort(alphabetically),
      });
    }
    return readers.sort((a, b) => alphabetically(a.name, b.name));
  },
});
