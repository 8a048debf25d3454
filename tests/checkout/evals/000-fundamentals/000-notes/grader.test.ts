import { ConvexError } from "convex/values";
import { beforeEach, expect, test } from "vitest";
import { addDocuments, clearTables, compareFunctionSpec, compareSchema, httpAdminClient, listTable, readOutput, responseClient, slug } from "../../../grader";
import { api, internal } from "./answer/convex/_generated/api";
import type { Doc } from "./answer/convex/_generated/dataModel";

const TITLES = ["Déjà vu", "Two words", "Three more words"];

beforeEach(() => clearTables("notes"));

test("compare schema", { timeout: 10_000 }, compareSchema);

test("compare function spec", compareFunctionSpec, 10_000);

test("the index on titles is staged", async () => {
  const { active } = await httpAdminClient().query("_system/frontend/getSchemas" as any, {});
  const [notes] = JSON.parse(active).tables;
  expect(notes.stagedDbIndexes).toEqual([{ indexDescriptor: "by_title", fields: ["title", "_creationTime"] }]);
});

test("types are checked strictly", () => {
  expect(JSON.parse(readOutput("tsconfig.json")).compilerOptions).toMatchObject({ strict: true, moduleResolution: "Bundler" });
});

test("a note is found by its slug", async () => {
  const note = { title: TITLES[0]!, slug: slug(TITLES[0]!), tags: ["film"] };
  const id = await responseClient!.mutation(api.notes.create, note);
  const found: Doc<"notes"> | null = await responseClient!.query(api.notes.bySlug, { slug: "deja-vu" });
  expect(found).toMatchObject({ ...note, _id: id });
  expect(await responseClient!.query(api.notes.bySlug, { slug: "other" })).toBeNull();
});

test("a slug is taken once", async () => {
  await addDocuments("notes", [{ title: "Here", slug: "here", tags: [] }]);
  const again = responseClient!.mutation(api.notes.create, { title: "Here", slug: "here", tags: [] });
  await expect(again).rejects.toThrow(ConvexError);
  await expect(again).rejects.toMatchObject({ data: { code: "slug_taken", slug: "here" } });
});

test("pages of notes", async () => {
  await addDocuments("notes", TITLES.map((title) => ({ title, slug: slug(title), tags: [] })));
  const first = await responseClient!.query(api.notes.list, { paginationOpts: { numItems: 2, cursor: null } });
  expect(first.page.map((note) => note.title)).toEqual(["Three more words", "Two words"]);
  expect(first.isDone).toBe(false);
  const second = await responseClient!.query(api.notes.list, { paginationOpts: { numItems: 2, cursor: first.continueCursor } });
  expect(second.page.map((note) => note.title)).toEqual(["Déjà vu"]);
});

test("pin is internal", async () => {
  const id = await responseClient!.mutation(api.notes.create, { title: "A", slug: "a", tags: [] });
  await expect(responseClient!.mutation(internal.notes.pin as any, { id })).rejects.toThrow(/Could not find public function/);
  expect(await httpAdminClient().mutation(internal.notes.pin as any, { id })).toBeNull();
  expect(await listTable("notes")).toMatchObject([{ _id: id, pinned: true }]);
});
