import { addDocuments, anonymousClient, clearTables, expectError, expectFunctions, expectSameSchema, listTable, ownFields } from "convex-evals/grader";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { api } from "./answer/convex/_generated/api";
import type { Id } from "./answer/convex/_generated/dataModel";

const visitor = anonymousClient();
const LONG_AGO = 1_600_000_000_000;

beforeEach(() => clearTables("pages", "folders"));

/** Stores a folder and returns its id. */
async function folder(name: string, trashedAt?: number): Promise<Id<"folders">> {
  await addDocuments("folders", [{ name, ...(trashedAt !== undefined && { trashedAt }) }]);
  return (await listTable("folders")).at(-1)?._id as Id<"folders">;
}

/** Stores a page and returns its id. */
async function page(folderId: Id<"folders">, title: string, trashedAt?: number): Promise<Id<"pages">> {
  await addDocuments("pages", [{ folderId, title, ...(trashedAt !== undefined && { trashedAt }) }]);
  return (await listTable("pages")).at(-1)?._id as Id<"pages">;
}

async function everything() {
  return { folders: await listTable("folders"), pages: await listTable("pages") };
}

function titles(pages: { title: string }[]): string[] {
  return pages.map(({ title }) => title);
}

/** Ids of a folder and a page that do not exist any more, for all tests. */
let lostIds: { folderId: Id<"folders">; pageId: Id<"pages"> };

beforeAll(async () => {
  const folderId = await folder("lost");
  lostIds = { folderId, pageId: await page(folderId, "lost") };
});

/** Folders and pages that are visible, and some that are not, by the reason why. */
async function world() {
  const lost = lostIds.folderId;
  await addDocuments("folders", [{ name: "open" }, { name: "trashed", trashedAt: LONG_AGO }]);
  const [open, trashed] = (await listTable("folders")).map(({ _id }) => _id) as [Id<"folders">, Id<"folders">];
  await addDocuments("pages", [
    { folderId: open, title: "visible" },
    { folderId: open, title: "in the trash", trashedAt: LONG_AGO },
    { folderId: trashed, title: "in a trashed folder" },
    { folderId: trashed, title: "both in the trash", trashedAt: LONG_AGO },
    { folderId: lost, title: "in a lost folder" },
  ]);
  const ids = new Map((await listTable("pages")).map(({ _id, title }) => [title, _id as Id<"pages">]));
  const idOf = (title: string) => ids.get(title) ?? lostIds.pageId;
  const visible = idOf("visible");
  const pages: [why: string, pageId: Id<"pages">][] = [
    ["that does not exist", lostIds.pageId],
    ["that is in the trash", idOf("in the trash")],
    ["whose folder is in the trash", idOf("in a trashed folder")],
    ["that is in the trash, with its folder", idOf("both in the trash")],
    ["whose folder does not exist", idOf("in a lost folder")],
  ];
  const folders: [why: string, folderId: Id<"folders">][] = [
    ["that does not exist", lost],
    ["that is in the trash", trashed],
  ];
  return { open, trashed, visible, hidden: { pages, folders } };
}

test("the tables accept the documents of the task", () => expectSameSchema({ indexes: "ignored" }));

test("the functions are registered as described", () => {
  const [publicQuery, publicMutation] = [
    { type: "query", visibility: "public" },
    { type: "mutation", visibility: "public" },
  ] as const;
  return expectFunctions({
    "pages:add": publicMutation,
    "pages:get": publicQuery,
    "pages:list": publicQuery,
    "pages:newest": publicQuery,
    "pages:rename": publicMutation,
    "pages:move": publicMutation,
    "pages:trash": publicMutation,
    "folders:list": publicQuery,
    "folders:trash": publicMutation,
    "folders:restore": publicMutation,
  });
});

test("get returns a visible page, and null for any other", async () => {
  const { visible, hidden } = await world();
  const stored = (await listTable("pages")).find(({ _id }) => _id === visible);
  expect(await visitor.query(api.pages.get, { pageId: visible }), "`get` must return the whole document of a visible page").toEqual(stored);
  for (const [why, pageId] of hidden.pages) {
    expect(await visitor.query(api.pages.get, { pageId }), `\`get\` of a page ${why} must return null`).toBeNull();
  }
});

test("list returns the folder's visible pages, the oldest first", async () => {
  const { open, visible, hidden } = await world();
  const other = await folder("other");
  await page(other, "elsewhere");
  await page(open, "a later one");
  const listed = await visitor.query(api.pages.list, { folderId: open });
  expect(titles(listed), "`list` must return the folder's visible pages, the oldest first").toEqual(["visible", "a later one"]);
  const stored = (await listTable("pages")).find(({ _id }) => _id === visible);
  expect(listed[0], "`list` must return whole documents").toEqual(stored);
  for (const [why, folderId] of hidden.folders) {
    expect(await visitor.query(api.pages.list, { folderId }), `\`list\` of a folder ${why} must return an empty list`).toEqual([]);
  }
});

test("newest returns visible pages of all folders, the newest first", async () => {
  const { open, trashed } = await world();
  const other = await folder("other");
  await page(other, "second");
  await page(open, "third");
  // The newest of all are not visible: they must not take the place of those that are.
  const [inTrashedFolder, inTrash] = [{ folderId: trashed, title: "not visible" }, { folderId: open, title: "not visible", trashedAt: LONG_AGO }];
  await addDocuments("pages", [inTrashedFolder, inTrash, inTrashedFolder, inTrash]);
  const newest = (count: number) => visitor.query(api.pages.newest, { count });
  expect(titles(await newest(2)), "`newest` with a `count` of 2 must return the two newest visible pages, the newest first").toEqual(["third", "second"]);
  expect(titles(await newest(1)), "`newest` with a `count` of 1 must return the newest visible page").toEqual(["third"]);
  expect(titles(await newest(10)), "`newest` must return fewer pages where there are fewer that are visible").toEqual(["third", "second", "visible"]);
  const stored = (await listTable("pages")).find(({ title }) => title === "third");
  expect((await newest(1))[0], "`newest` must return whole documents").toEqual(stored);
});

test("folders.list returns the visible folders with the number of their visible pages", async () => {
  const { open } = await world();
  const empty = await folder("empty");
  await page(open, "another");
  const listed = await visitor.query(api.folders.list, {});
  expect(listed, "`folders.list` must return `_id`, `name` and `pageCount` of each visible folder, the oldest first").toEqual([
    { _id: open, name: "open", pageCount: 2 },
    { _id: empty, name: "empty", pageCount: 0 },
  ]);
});

test("add inserts a page into a visible folder only", async () => {
  const { open, hidden } = await world();
  const pageId = await visitor.mutation(api.pages.add, { folderId: open, title: "new" });
  const added = (await listTable("pages")).at(-1);
  expect(added?._id, "`add` must insert a page and return its id").toBe(pageId);
  expect(ownFields(added ?? {}), "a new page must have a folder and a title, and must not be in the trash").toEqual({ folderId: open, title: "new" });
  const before = await everything();
  for (const [why, folderId] of hidden.folders) {
    await expectError(visitor.mutation(api.pages.add, { folderId, title: "x" }), `\`add\` to a folder ${why} must be refused`);
  }
  expect(await everything(), "a refused `add` must change nothing").toEqual(before);
});

test("rename changes the title of a visible page only", async () => {
  const { visible, hidden } = await world();
  const before = await everything();
  for (const [why, pageId] of hidden.pages) {
    await expectError(visitor.mutation(api.pages.rename, { pageId, title: "x" }), `\`rename\` of a page ${why} must be refused`);
  }
  expect(await everything(), "a refused `rename` must change nothing").toEqual(before);
  expect(await visitor.mutation(api.pages.rename, { pageId: visible, title: "renamed" }), "`rename` must return null").toBeNull();
  const pages = before.pages.map((one) => (one._id === visible ? { ...one, title: "renamed" } : one));
  expect(await everything(), "`rename` must change the title of this page and nothing else").toEqual({ ...before, pages });
});

test("move moves a visible page into a visible folder only", async () => {
  const { open, visible, hidden } = await world();
  const other = await folder("other");
  const before = await everything();
  for (const [why, pageId] of hidden.pages) {
    await expectError(visitor.mutation(api.pages.move, { pageId, folderId: other }), `\`move\` of a page ${why} must be refused`);
  }
  for (const [why, folderId] of hidden.folders) {
    await expectError(visitor.mutation(api.pages.move, { pageId: visible, folderId }), `\`move\` into a folder ${why} must be refused`);
  }
  expect(await everything(), "a refused `move` must change nothing").toEqual(before);
  expect(await visitor.mutation(api.pages.move, { pageId: visible, folderId: other }), "`move` must return null").toBeNull();
  const pages = before.pages.map((one) => (one._id === visible ? { ...one, folderId: other } : one));
  expect(await everything(), "`move` must change the folder of this page and nothing else").toEqual({ ...before, pages });
  expect(titles(await visitor.query(api.pages.list, { folderId: open })), "a page that was moved must not be listed where it was").toEqual([]);
});

test("trash puts a visible page into the trash only", async () => {
  const { visible, hidden } = await world();
  const before = await everything();
  for (const [why, pageId] of hidden.pages) {
    await expectError(visitor.mutation(api.pages.trash, { pageId }), `\`trash\` of a page ${why} must be refused`);
  }
  expect(await everything(), "a refused `trash` must change nothing").toEqual(before);
  const start = Date.now();
  expect(await visitor.mutation(api.pages.trash, { pageId: visible }), "`trash` must return null").toBeNull();
  const after = await everything();
  const trashedAt = after.pages.find(({ _id }) => _id === visible)?.["trashedAt"] as number;
  const pages = before.pages.map((one) => (one._id === visible ? { ...one, trashedAt } : one));
  expect(after, "`trash` must keep the page, with a `trashedAt`, and change nothing else").toEqual({ ...before, pages });
  expect(Math.abs(trashedAt - start), "`trashedAt` must be the time of the call in milliseconds").toBeLessThan(60_000);
  expect(await visitor.query(api.pages.get, { pageId: visible }), "a page must not be visible when it was put into the trash").toBeNull();
});

test("a folder in the trash hides its pages until it is restored", async () => {
  const { open, visible } = await world();
  const before = await everything();
  const start = Date.now();
  expect(await visitor.mutation(api.folders.trash, { folderId: open }), "`folders.trash` must return null").toBeNull();
  const trashed = await everything();
  expect(trashed.pages, "`folders.trash` must leave the pages as they are").toEqual(before.pages);
  const trashedAt = trashed.folders.find(({ _id }) => _id === open)?.["trashedAt"] as number;
  expect(Math.abs(trashedAt - start), "the folder's `trashedAt` must be the time of the call in milliseconds").toBeLessThan(60_000);
  expect(await visitor.query(api.pages.get, { pageId: visible }), "pages of a folder in the trash must not be visible").toBeNull();
  expect(await visitor.query(api.folders.list, {}), "a folder in the trash must not be listed").toEqual([]);

  expect(await visitor.mutation(api.folders.restore, { folderId: open }), "`restore` must return null").toBeNull();
  expect(await everything(), "`restore` must make the folder as it was before, without `trashedAt`, and leave its pages as they are").toEqual(before);
  const listed = await visitor.query(api.pages.list, { folderId: open });
  expect(titles(listed), "only pages that were not put into the trash themselves are visible again").toEqual(["visible"]);
});

test("only visible folders can be put into the trash, and only those in the trash can be restored", async () => {
  const { open, hidden } = await world();
  const before = await everything();
  for (const [why, folderId] of hidden.folders) {
    await expectError(visitor.mutation(api.folders.trash, { folderId }), `\`folders.trash\` of a folder ${why} must be refused`);
  }
  await expectError(visitor.mutation(api.folders.restore, { folderId: open }), "`restore` of a folder that is not in the trash must be refused");
  const { folderId } = lostIds;
  await expectError(visitor.mutation(api.folders.restore, { folderId }), "`restore` of a folder that does not exist must be refused");
  expect(await everything(), "refused calls must change nothing").toEqual(before);
});

test("ids of another table are refused", async () => {
  const { open } = await world();
  const pageId = open as unknown as Id<"pages">;
  await expectError(visitor.query(api.pages.get, { pageId }), "`get` with the id of a folder must be refused");
  await expectError(visitor.mutation(api.pages.trash, { pageId }), "`trash` with the id of a folder must be refused");
});
