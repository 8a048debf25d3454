import {
  addDocuments,
  adminClient,
  anonymousClient,
  clearTables,
  clientAs,
  expectError,
  expectFunctions,
  expectNotCallable,
  expectSameSchema,
  listFunctions,
  listTable,
  ownFields,
} from "convex-evals/grader";
import { beforeEach, expect, test } from "vitest";
import { api, internal } from "./answer/convex/_generated/api";
import type { Id } from "./answer/convex/_generated/dataModel";

const ISSUER = "https://login.example.com";
const ADA = `${ISSUER}|ada`;
const BOB = `${ISSUER}|bob`;
const ada = clientAs({ issuer: ISSUER, subject: "ada", name: "Ada" });
const bob = clientAs({ issuer: ISSUER, subject: "bob", name: "Ada" });
// Another provider has a user of the same name: not the same person.
const otherAda = clientAs({ issuer: "https://id.example.org", subject: "ada", name: "Ada" });
const visitor = anonymousClient();

beforeEach(() => clearTables("notes"));

async function notes() {
  return (await listTable("notes")).map(ownFields);
}

test("the table accepts the documents of the task", () => expectSameSchema({ indexes: "ignored" }));

test("the functions are registered as described", async () => {
  await expectFunctions({
    "notes:add": { type: "mutation", visibility: "public" },
    "notes:list": { type: "query", visibility: "public" },
    "notes:setPinned": { type: "mutation", visibility: "public" },
    "notes:remove": { type: "mutation", visibility: "public" },
    "notes:removeAllOf": { type: "mutation", visibility: "internal" },
  });
});

test("whose notes are listed is not for the client to say", async () => {
  const args = (await listFunctions()).get("notes:list")?.args;
  const named = args?.type === "object" ? Object.keys(args.value) : [];
  expect(named, "`list` must take no arguments: the user is who is logged in").toEqual([]);
  await ada.mutation(api.notes.add, { text: "secret" });
  for (const field of ["owner", "user", "userId", "tokenIdentifier"]) {
    // Refusing an unknown argument is as good as ignoring it.
    const forged = { [field]: ADA } as Record<string, never>;
    const listed = await bob.query(api.notes.list, forged).catch(() => []);
    expect(listed, `\`list\` must not return another user's notes to a client that sends \`${field}\``).toEqual([]);
  }
});

test("add stores a note of the user who is logged in", async () => {
  const id = await ada.mutation(api.notes.add, { text: "hello" });
  const [note] = await listTable("notes");
  expect(note, "`add` must insert the note, not pinned, with the caller's `tokenIdentifier` as owner, and return its id").toEqual({
    _id: id,
    _creationTime: expect.any(Number) as unknown,
    owner: ADA,
    text: "hello",
    pinned: false,
  });
});

test("add refuses empty and too long texts", async () => {
  await expectError(ada.mutation(api.notes.add, { text: "" }), "An empty text must be refused");
  await expectError(ada.mutation(api.notes.add, { text: "x".repeat(1001) }), "A text of 1001 characters must be refused");
  expect(await notes(), "a refused `add` must insert nothing").toEqual([]);
  await ada.mutation(api.notes.add, { text: "x".repeat(1000) });
  expect((await notes()).length, "a text of 1000 characters must be accepted").toBe(1);
});

test("without a login every public function throws", async () => {
  const noteId = await ada.mutation(api.notes.add, { text: "hello" });
  const before = await notes();
  const rule = "without a login must be refused";
  await expectError(visitor.query(api.notes.list, {}), `\`list\` ${rule}`);
  await expectError(visitor.mutation(api.notes.add, { text: "x" }), `\`add\` ${rule}`);
  await expectError(visitor.mutation(api.notes.setPinned, { noteId, pinned: true }), `\`setPinned\` ${rule}`);
  await expectError(visitor.mutation(api.notes.remove, { noteId }), `\`remove\` ${rule}`);
  expect(await notes(), "calls without a login must change nothing").toEqual(before);
});

test("list shows the user's own notes, pinned ones first, then the newest first", async () => {
  for (const text of ["one", "two", "three", "four"]) await ada.mutation(api.notes.add, { text });
  await bob.mutation(api.notes.add, { text: "bob's" });
  await otherAda.mutation(api.notes.add, { text: "other ada's" });
  const stored = await listTable("notes");
  for (const text of ["one", "three"]) {
    const noteId = stored.find((note) => note["text"] === text)?._id as Id<"notes">;
    expect(await ada.mutation(api.notes.setPinned, { noteId, pinned: true }), "`setPinned` must return null").toBeNull();
  }
  const listed = await ada.query(api.notes.list, {});
  expect(listed.map(({ text }) => text), "`list` must return pinned notes before the others, and the newest first").toEqual([
    "three",
    "one",
    "four",
    "two",
  ]);
  expect(listed[0], "`list` must return whole documents").toEqual({ ...stored[2], pinned: true });
  const others = [...(await bob.query(api.notes.list, {})), ...(await otherAda.query(api.notes.list, {}))];
  expect(others.map(({ text }) => text), "each user must see the own notes only").toEqual(["bob's", "other ada's"]);
});

test("setPinned unpins a note, too", async () => {
  await addDocuments("notes", [{ owner: ADA, text: "hello", pinned: true }]);
  const noteId = (await listTable("notes"))[0]?._id as Id<"notes">;
  await ada.mutation(api.notes.setPinned, { noteId, pinned: false });
  expect(await notes(), "`setPinned` with `pinned: false` must unpin the note").toEqual([{ owner: ADA, text: "hello", pinned: false }]);
});

test("remove deletes one own note", async () => {
  const noteId = await ada.mutation(api.notes.add, { text: "one" });
  await ada.mutation(api.notes.add, { text: "two" });
  expect(await ada.mutation(api.notes.remove, { noteId }), "`remove` must return null").toBeNull();
  expect((await notes()).map(({ text }) => text as string), "`remove` must delete this note only").toEqual(["two"]);
});

/** What the app says: without the id of the request and the place in the source, which differ from call to call. */
function said(error: Error): string {
  return error.message.replace(/\[Request ID: [^\]]*\]/, "").replace(/\n\s+at .*/g, "");
}

test("notes of other users are out of reach, and cannot be told from notes that do not exist", async () => {
  const noteId = await ada.mutation(api.notes.add, { text: "secret" });
  const gone = await bob.mutation(api.notes.add, { text: "gone" });
  await bob.mutation(api.notes.remove, { noteId: gone });
  const before = await notes();
  for (const stranger of [bob, otherAda]) {
    const pin = (id: Id<"notes">) => stranger.mutation(api.notes.setPinned, { noteId: id, pinned: true });
    const remove = (id: Id<"notes">) => stranger.mutation(api.notes.remove, { noteId: id });
    const pinForeign = await expectError(pin(noteId), "`setPinned` of another user's note must be refused");
    const pinGone = await expectError(pin(gone), "`setPinned` of a note that is gone must be refused");
    const removeForeign = await expectError(remove(noteId), "`remove` of another user's note must be refused");
    const removeGone = await expectError(remove(gone), "`remove` of a note that is gone must be refused");
    const same = "the errors for a note of another user and for one that does not exist must be the same";
    expect(said(pinForeign), `\`setPinned\`: ${same}`).toBe(said(pinGone));
    expect(said(removeForeign), `\`remove\`: ${same}`).toBe(said(removeGone));
  }
  expect(await notes(), "refused calls must change nothing").toEqual(before);
});

test("removeAllOf deletes the notes of one owner, for the app itself only", async () => {
  await ada.mutation(api.notes.add, { text: "one" });
  await ada.mutation(api.notes.add, { text: "two" });
  await bob.mutation(api.notes.add, { text: "bob's" });
  await expectNotCallable(visitor.mutation(internal.notes.removeAllOf, { owner: ADA }), "Clients must not be able to call `removeAllOf`");
  const count = await adminClient().mutation(internal.notes.removeAllOf, { owner: ADA });
  expect(count, "`removeAllOf` must return the number of deleted notes").toBe(2);
  expect((await notes()).map(({ text }) => text as string), "`removeAllOf` must delete all notes of this owner, and no others").toEqual(["bob's"]);
});

test("removeAllOf deletes the notes of an owner who has many", async () => {
  const many = Array.from({ length: 1100 }, (_, index) => ({ owner: ADA, text: "x", pinned: index % 2 === 0 }));
  await addDocuments("notes", [{ owner: BOB, text: "bob's", pinned: true }, ...many]);
  const count = await adminClient().mutation(internal.notes.removeAllOf, { owner: ADA });
  expect(count, "`removeAllOf` must return the number of all deleted notes, here of 1100").toBe(1100);
  expect(await notes(), "`removeAllOf` must delete all notes of this owner, here 1100, and no others").toEqual([{ owner: BOB, text: "bob's", pinned: true }]);
});
