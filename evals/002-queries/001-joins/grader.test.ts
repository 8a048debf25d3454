import { addDocuments, anonymousClient, clearTables, expectError, expectFunctions, expectSameSchema, listTable } from "convex-evals/grader";
import type { GenericDocument } from "convex/server";
import { beforeAll, expect, test } from "vitest";
import { api } from "./answer/convex/_generated/api";
import type { Id } from "./answer/convex/_generated/dataModel";

const visitor = anonymousClient();

type Table = "authors" | "books" | "members" | "loans";

const HUGE = "x".repeat(900_000);

/** Stores documents and returns their ids. */
async function store<T extends Table>(table: T, documents: GenericDocument[]): Promise<Id<T>[]> {
  await addDocuments(table, documents);
  const stored = await listTable(table);
  return stored.slice(stored.length - documents.length).map((document) => document._id as Id<T>);
}

/** Stores one document and returns its id. */
async function storeOne<T extends Table>(table: T, document: GenericDocument): Promise<Id<T>> {
  const [id] = await store(table, [document]);
  if (id === undefined) throw new Error(`The table \`${table}\` must hold what was stored in it`);
  return id;
}

/** Names to ids, in the order in which they are stored. */
async function named<T extends "authors" | "members", N extends string>(table: T, names: readonly N[]): Promise<Record<N, Id<T>>> {
  const ids = await store(table, names.map((name) => ({ name })));
  return Object.fromEntries(names.map((name, index) => [name, ids[index]])) as Record<N, Id<T>>;
}

let gone: { author: Id<"authors">; book: Id<"books">; member: Id<"members"> };
let authors: Record<"Tove" | "Stanislaw" | "Unread", Id<"authors">>;
let members: Record<"Zoe" | "Ada" | "Bob" | "Idle", Id<"members">>;
let secondAda: Id<"members">;
let loans: Id<"loans">[];

beforeAll(async () => {
  // What is deleted again, so that its ids belong to no document.
  const author = await storeOne("authors", { name: "Forgotten" });
  gone = { author, book: await storeOne("books", { title: "Lost", authorId: author }), member: await storeOne("members", { name: "Moved Away" }) };
  await clearTables("books", "authors", "members");

  authors = await named("authors", ["Tove", "Stanislaw", "Unread"]);
  members = await named("members", ["Zoe", "Ada", "Bob", "Idle"]);
  secondAda = await storeOne("members", { name: "Ada" });
  const [winter, comet, solaris, anonymous] = await store("books", [
    { title: "Winter", authorId: authors.Tove },
    { title: "Comet", authorId: authors.Tove },
    { title: "Solaris", authorId: authors.Stanislaw },
    { title: "Anonymous", authorId: gone.author },
    { title: "Dust", authorId: authors.Unread },
  ]);
  loans = await store("loans", [
    { memberId: members.Zoe, bookId: winter, dueAt: 300 },
    { memberId: members.Zoe, bookId: gone.book, dueAt: 100 },
    { memberId: members.Ada, bookId: comet, dueAt: 50 },
    { memberId: members.Zoe, bookId: anonymous, dueAt: 200 },
    { memberId: members.Zoe, bookId: comet, dueAt: 100 },
    { memberId: secondAda, bookId: winter, dueAt: 60 },
    { memberId: gone.member, bookId: winter, dueAt: 70 },
    { memberId: members.Bob, bookId: solaris, dueAt: 80 },
    { memberId: members.Zoe, bookId: comet, dueAt: 20 },
  ]);
});

test("the tables accept the documents of the task", () => expectSameSchema({ indexes: "ignored" }));

test("both functions are public queries", async () => {
  const publicQuery = { type: "query", visibility: "public" } as const;
  await expectFunctions({ "loans:ofMember": publicQuery, "loans:readersOf": publicQuery });
});

test("ofMember joins each loan with its book and the book's author", async () => {
  const found = await visitor.query(api.loans.ofMember, { memberId: members.Ada });
  expect(found, "`ofMember` must return the id, the due time, the title and the author of the only loan").toEqual([
    { loanId: loans[2], dueAt: 50, title: "Comet", author: "Tove" },
  ]);
});

test("ofMember keeps loans whose book or author is gone, the earliest first", async () => {
  const found = await visitor.query(api.loans.ofMember, { memberId: members.Zoe });
  expect(found?.map(({ dueAt }) => dueAt), "`ofMember` must return all five loans of the member, the earliest `dueAt` first").toEqual([20, 100, 100, 200, 300]);
  expect(found?.[3], "where only the author is gone, `author` must be null and `title` must stay").toEqual({
    loanId: loans[3],
    dueAt: 200,
    title: "Anonymous",
    author: null,
  });
  expect(found?.[1], "where the book is gone, `title` and `author` must be null; of two loans with one `dueAt` the one stored first comes first").toEqual({
    loanId: loans[1],
    dueAt: 100,
    title: null,
    author: null,
  });
  expect(found?.map(({ loanId }) => loanId), "`ofMember` must return the loans by `dueAt`, then as they were stored").toEqual(
    [8, 1, 4, 3, 0].map((index) => loans[index]),
  );
});

test("ofMember tells a member without loans from one that is gone", async () => {
  expect(await visitor.query(api.loans.ofMember, { memberId: members.Idle }), "`ofMember` of a member without loans must be an empty list").toEqual([]);
  expect(await visitor.query(api.loans.ofMember, { memberId: gone.member }), "`ofMember` of a member that does not exist any more must be null").toBeNull();
});

test("readersOf finds each member once, with the titles, by name", async () => {
  const found = await visitor.query(api.loans.readersOf, { authorId: authors.Tove });
  expect(found?.map(({ name }) => name), "`readersOf` must return each member once in the order of names; two members may have one name").toEqual([
    "Ada",
    "Ada",
    "Zoe",
  ]);
  const titles = new Map(found?.map((reader) => [reader.memberId, reader]));
  expect(titles.get(members.Ada), "`readersOf` must tell which titles the first Ada has").toEqual({ memberId: members.Ada, name: "Ada", titles: ["Comet"] });
  expect(titles.get(secondAda), "`readersOf` must tell which titles the second Ada has").toEqual({ memberId: secondAda, name: "Ada", titles: ["Winter"] });
  expect(titles.get(members.Zoe), "`titles` must be those of this author in alphabetical order, with a title twice for two copies").toEqual({
    memberId: members.Zoe,
    name: "Zoe",
    titles: ["Comet", "Comet", "Winter"],
  });
});

test("readersOf tells an author without readers from one that is gone", async () => {
  expect(await visitor.query(api.loans.readersOf, { authorId: authors.Unread }), "`readersOf` must be an empty list where nobody has a book").toEqual([]);
  expect(await visitor.query(api.loans.readersOf, { authorId: gone.author }), "`readersOf` of an author that does not exist any more must be null").toBeNull();
});

test("ids of another table are refused", async () => {
  const memberId = authors.Tove as unknown as Id<"members">;
  await expectError(visitor.query(api.loans.ofMember, { memberId }), "`ofMember` with the id of an author must be refused", { by: "arguments" });
});

/** The call's result; where the server stops it for reading too much, the rule that it breaks. */
async function frugal<T>(call: Promise<T>, rule: string): Promise<T> {
  return await call.catch((error: unknown) => {
    throw new Error(`${rule}; the call failed: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  });
}

test("neither query reads what it is not asked about", async () => {
  // Twice more than Convex lets one function read (16 MiB), so the server stops whoever reads all loans or all books.
  const { Unread: other } = authors;
  const bookId = await storeOne("books", { title: "Heavy", authorId: other });
  const memberId = await storeOne("members", { name: "Heavy" });
  const ten = <T>(document: T): T[] => Array.from({ length: 10 }, () => document);
  for (let round = 0; round < 2; round += 1) {
    await addDocuments("loans", ten({ memberId, bookId, dueAt: 1, form: HUGE }));
    await addDocuments("books", ten({ title: "Heavier", authorId: other, excerpt: HUGE }));
  }
  const found = await frugal(visitor.query(api.loans.ofMember, { memberId: members.Bob }), "`ofMember` must not read loans of other members");
  expect(found, "`ofMember` must return the only loan of the member").toEqual([{ loanId: loans[7], dueAt: 80, title: "Solaris", author: "Stanislaw" }]);
  const readers = await frugal(
    visitor.query(api.loans.readersOf, { authorId: authors.Stanislaw }),
    "`readersOf` must not read books of other authors, nor loans of their books",
  );
  expect(readers, "`readersOf` must return the only reader").toEqual([{ memberId: members.Bob, name: "Bob", titles: ["Solaris"] }]);
});
