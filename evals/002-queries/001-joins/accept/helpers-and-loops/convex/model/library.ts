import type { Doc, Id } from "../_generated/dataModel";
import type { DatabaseReader } from "../_generated/server";

export async function loansOfMember(db: DatabaseReader, memberId: Id<"members">): Promise<Doc<"loans">[]> {
  const loans: Doc<"loans">[] = [];
  for await (const loan of db.query("loans").withIndex("member", (q) => q.eq("memberId", memberId))) loans.push(loan);
  return loans.sort((a, b) => a.dueAt - b.dueAt || a._creationTime - b._creationTime);
}

export function loansOfBook(db: DatabaseReader, bookId: Id<"books">): Promise<Doc<"loans">[]> {
  return db
    .query("loans")
    .withIndex("book", (q) => q.eq("bookId", bookId))
    .collect();
}

export function booksOf(db: DatabaseReader, authorId: Id<"authors">): Promise<Doc<"books">[]> {
  return db
    .query("books")
    .withIndex("author", (q) => q.eq("authorId", authorId))
    .collect();
}

export async function describeLoan(db: DatabaseReader, loan: Doc<"loans">) {
  const described = { loanId: loan._id, dueAt: loan.dueAt, title: null, author: null };
  const book = await db.get(loan.bookId);
  if (book === null) return described;
  const author = await db.get(book.authorId);
  return { ...described, title: book.title, author: author === null ? null : author.name };
}
