import { v } from "convex/values";
import { query } from "./_generated/server";
import { booksOf, describeLoan, loansOfBook, loansOfMember } from "./model/library";

export const ofMember = query({
  args: { memberId: v.id("members") },
  handler: async ({ db }, { memberId }) => {
    if (!(await db.get(memberId))) return null;
    const described = [];
    for (const loan of await loansOfMember(db, memberId)) described.push(await describeLoan(db, loan));
    return described;
  },
});

export const readersOf = query({
  args: { authorId: v.id("authors") },
  handler: async ({ db }, { authorId }) => {
    if (!(await db.get(authorId))) return null;
    const books = await booksOf(db, authorId);
    const pairs = await Promise.all(
      books.map(async (book) => (await loansOfBook(db, book._id)).map((loan) => ({ memberId: loan.memberId, title: book.title }))),
    );
    const loans = pairs.flat();
    const memberIds = [...new Set(loans.map((loan) => loan.memberId))];
    const members = await Promise.all(memberIds.map((memberId) => db.get(memberId)));
    return members
      .flatMap((member) => (member ? [member] : []))
      .map(({ _id, name }) => ({
        name,
        memberId: _id,
        titles: loans.flatMap((loan) => (loan.memberId === _id ? [loan.title] : [])).sort((a, b) => a.localeCompare(b)),
      }))
      .sort((a, b) => a.name.localeCompare(b.name));
  },
});
