import { v } from "convex/values";
import type { Id } from "./_generated/dataModel";
import { query } from "./_generated/server";

export const ofMember = query({
  args: { memberId: v.id("members") },
  returns: v.union(
    v.null(),
    v.array(
      v.object({
        loanId: v.id("loans"),
        dueAt: v.number(),
        title: v.union(v.string(), v.null()),
        author: v.union(v.string(), v.null()),
      }),
    ),
  ),
  handler: async (ctx, args) => {
    const member = await ctx.db.get("members", args.memberId);
    if (member === null) {
      return null;
    }
    const loans = await ctx.db
      .query("loans")
      .withIndex("by_memberId_and_dueAt", (q) => q.eq("memberId", args.memberId))
      .collect();
    const rows = await Promise.all(
      loans.map(async (loan) => {
        const book = await ctx.db.get("books", loan.bookId);
        if (book === null) {
          return null;
        }
        const author = await ctx.db.get("authors", book.authorId);
        return { loanId: loan._id, dueAt: loan.dueAt, title: book.title, author: author?.name ?? null };
      }),
    );
    return rows.filter((row) => row !== null);
  },
});

export const readersOf = query({
  args: { authorId: v.id("authors") },
  returns: v.union(
    v.null(),
    v.array(
      v.object({
        memberId: v.id("members"),
        name: v.string(),
        titles: v.array(v.string()),
      }),
    ),
  ),
  handler: async (ctx, args) => {
    const author = await ctx.db.get("authors", args.authorId);
    if (author === null) {
      return null;
    }
    const titlesOf = new Map<Id<"members">, string[]>();
    const books = await ctx.db
      .query("books")
      .withIndex("by_authorId", (q) => q.eq("authorId", args.authorId))
      .collect();
    for (const book of books) {
      const loans = await ctx.db
        .query("loans")
        .withIndex("by_bookId", (q) => q.eq("bookId", book._id))
        .collect();
      for (const loan of loans) {
        titlesOf.set(loan.memberId, [...(titlesOf.get(loan.memberId) ?? []), book.title]);
      }
    }
    const readers = [];
    for (const [memberId, titles] of titlesOf) {
      const member = await ctx.db.get("members", memberId);
      if (member !== null) {
        readers.push({ memberId, name: member.name, titles: titles.sort() });
      }
    }
    return readers.sort((a, b) => (a.name < b.name ? -1 : 1));
  },
});
