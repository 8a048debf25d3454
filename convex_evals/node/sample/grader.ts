import { addDocuments, anonymousClient, clearTables, eventually, expectError, expectFunctions, findCalls, listCrons, listSources, listTable, openPage, siteUrl } from "convex-evals/grader";
import { anyApi } from "convex/server";
import { beforeEach, expect, test } from "vitest";

const { notes, files } = anyApi as unknown as Record<string, Record<string, never>>;
const visitor = anonymousClient();

beforeEach(() => clearTables("authors", "notes"));

test("functions have their types", async () => {
  await expectFunctions({ "notes:add": { type: "mutation", visibility: "public" }, "notes:count": { type: "query", visibility: "internal" } });
  expect(await listCrons()).toHaveLength(1);
});

test("the source is read", async () => {
  const files = listSources("convex");
  expect(await findCalls(files, /\.insert$/)).not.toEqual([]);
});

test("documents are stored and read", async () => {
  await addDocuments("authors", [{ name: "Ada", tags: ["a", "b"] }, { name: "Bob", email: "bob@example.org", tags: [] }]);
  const id = await visitor.mutation(notes!.add!, { author: "Ada", text: "first" });
  await visitor.mutation(notes!.publish!, { noteId: id });
  expect(await visitor.query(notes!.list!, { author: "Ada" }), "published notes").toMatchObject([{ text: "first", author: "Ada", state: "published" }]);
  expect(await visitor.action(notes!.addAll!, { author: "Eve", texts: ["x", "y"] })).toBe(3);
  expect(await visitor.query(notes!.page!, { paginationOpts: { numItems: 2, cursor: null } })).toMatchObject({ isDone: false });
  expect(await visitor.query(notes!.search!, { text: "first" })).toHaveLength(1);
  await visitor.mutation(notes!.remove!, { noteId: id });
  expect((await listTable("notes")).map((note) => note["text"])).toEqual(["x", "y"]);
});

test("what is wrong is refused", async () => {
  await expectError(visitor.mutation(notes!.add!, { author: "Ada", text: 1 }), "a number", { by: "arguments" });
  await expectError(visitor.mutation(notes!.add!, { author: "Ada", text: "" }), "an empty text");
  expect(() => expect([{ a: 1 }], "differs").toEqual([{ a: 2 }])).toThrow("differs");
});

test("HTTP and files", async () => {
  const response = await fetch(siteUrl("/notes"), { method: "POST", body: JSON.stringify({ author: "Ada", text: "posted" }) });
  expect(response.status).toBe(201);
  const { url } = (await visitor.action(files!.store!, { text: "stored" })) as { url: string };
  expect(await (await fetch(url)).text()).toBe("stored");
});

test("pages show what is stored", async () => {
  const page = await openPage();
  await eventually(async () => expect(await page.texts("ul")).toEqual([""]), { what: "the list" });
  await page.fill("input", "typed");
  await page.click("button");
  await eventually(async () => expect(await page.texts("li")).toEqual(["typed"]), { what: "the note" });
});
