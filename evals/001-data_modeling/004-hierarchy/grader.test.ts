import { addDocuments, anonymousClient, clearTables, expectError, expectFunctions, expectSameSchema, listTable, ownFields } from "convex-evals/grader";
import { beforeEach, expect, test } from "vitest";
import { api } from "./answer/convex/_generated/api";
import type { Doc, Id } from "./answer/convex/_generated/dataModel";

const visitor = anonymousClient();
const HUGE = "x".repeat(900_000);

type FolderId = Id<"folders">;

const folders = () => listTable<Doc<"folders">>("folders");

/** Stores a folder past the functions and returns its id. */
async function stored(name: string, position: number, parentId?: FolderId): Promise<FolderId> {
  await addDocuments("folders", [{ name, position, ...(parentId !== undefined && { parentId }) }]);
  const [newest] = await listTable<Doc<"folders">>("folders", { limit: 1 });
  if (newest === undefined) throw new Error("The table `folders` must hold what was stored in it");
  return newest._id;
}

const children = (parentId?: FolderId) => visitor.query(api.folders.children, parentId === undefined ? {} : { parentId });
const path = (folderId: FolderId) => visitor.query(api.folders.path, { folderId });
const create = (name: string, parentId?: FolderId) => visitor.mutation(api.folders.create, { name, ...(parentId !== undefined && { parentId }) });
const move = (folderId: FolderId, parentId?: FolderId) =>
  visitor.mutation(api.folders.move, { folderId, ...(parentId !== undefined && { parentId }) });

async function names(found: Promise<{ name: string }[]>): Promise<string[]> {
  return (await found).map(({ name }) => name);
}

/** The id of a folder that is gone. To be called before anything else is stored. */
async function gone(): Promise<FolderId> {
  const id = await stored("Gone", 1);
  await clearTables("folders");
  return id;
}

/** Folders at the top (Home, Work), and one way down: Home, Taxes, 2026, Letters. */
async function makeTree() {
  const home = await stored("Home", 1);
  const work = await stored("Work", 2);
  const taxes = await stored("Taxes", 1, home);
  const year = await stored("2026", 1, taxes);
  const letters = await stored("Letters", 1, year);
  return { home, work, taxes, year, letters };
}

beforeEach(() => clearTables("folders"));

test("the table accepts the documents of the task", () => expectSameSchema({ indexes: "ignored" }));

test("the functions are public queries and mutations", async () => {
  await expectFunctions({
    "folders:create": { type: "mutation", visibility: "public" },
    "folders:children": { type: "query", visibility: "public" },
    "folders:path": { type: "query", visibility: "public" },
    "folders:move": { type: "mutation", visibility: "public" },
  });
});

test("create adds folders at the end of their place", async () => {
  const home = await create("Home");
  const work = await create("Work");
  const taxes = await create("Taxes", home);
  await create("House", home);
  const [first, second, third] = await folders();
  expect([first?._id, second?._id, third?._id], "`create` must return the id of the folder").toEqual([home, work, taxes]);
  expect(first && ownFields(first), "a folder that is created at the top has a name and a position, and no parent").toEqual({
    name: "Home",
    position: expect.any(Number) as unknown,
  });
  expect(third, "a folder that is created in another one must have the id of its parent").toMatchObject({ name: "Taxes", parentId: home });
  expect(await names(children()), "`create` without `parentId` must add folders at the top, one after the other").toEqual(["Home", "Work"]);
  expect(await names(children(home)), "`create` must add folders in their parent, one after the other").toEqual(["Taxes", "House"]);
});

test("create comes after folders with any positions", async () => {
  const home = await stored("Home", 5);
  for (const [name, position] of [["b", 0.25], ["d", 70.5], ["a", -3], ["c", 7]] as const) await stored(name, position, home);
  await create("e", home);
  expect(await names(children(home)), "`create` must add the folder after all that are there, whatever their positions").toEqual(["a", "b", "c", "d", "e"]);
  await clearTables("folders");
  for (const [name, position] of [["y", -10], ["x", -20]] as const) await stored(name, position);
  await create("z");
  expect(await names(children()), "`create` must add the folder after all that are there, whatever their positions").toEqual(["x", "y", "z"]);
  await clearTables("folders");
  await stored("far", 1e14);
  await create("farther");
  expect(await names(children()), "`create` must add the folder after all that are there, whatever their positions").toEqual(["far", "farther"]);
});

test("create refuses a parent that does not exist any more", async () => {
  const parentId = await gone();
  await expectError(create("Lost", parentId), "`create` in a folder that does not exist any more must be refused");
  expect(await folders(), "a `create` that is refused must change nothing").toEqual([]);
});

test("children returns whole folders of one place, in their order", async () => {
  const home = await stored("Home", 30);
  await stored("Attic", 10);
  const work = await stored("Work", 20);
  await stored("y", 2, home);
  await stored("z", 0.5, home);
  const deep = await stored("x", -1, home);
  await stored("deep", 0, deep);
  const top = "`children` without `parentId` must return the folders at the top and no others, by position";
  expect(await names(children()), top).toEqual(["Attic", "Work", "Home"]);
  expect(await names(children(home)), "`children` must return the folders right in this place, by position").toEqual(["x", "z", "y"]);
  expect(await children(deep), "`children` must return whole documents").toEqual((await folders()).slice(-1));
  expect(await children(work), "`children` of an empty folder must return an empty list").toEqual([]);
});

test("children of a folder that does not exist any more, and an empty cabinet", async () => {
  const id = await gone();
  expect(await children(), "`children` of an empty cabinet must return an empty list").toEqual([]);
  await stored("Home", 1);
  expect(await children(id), "`children` of a folder that does not exist any more must return an empty list").toEqual([]);
});

test("path leads from the top to the folder", async () => {
  const id = await gone();
  expect(await path(id), "`path` of a folder that does not exist any more must return an empty list").toEqual([]);
  const { home, letters } = await makeTree();
  const documents = await folders();
  const way = ["Home", "Taxes", "2026", "Letters"].map((name) => documents.find((folder) => folder.name === name));
  expect(await path(letters), "`path` must return whole documents, the folder at the top first and the folder itself last").toEqual(way);
  expect(await path(home), "`path` of a folder at the top must return this folder alone").toEqual(way.slice(0, 1));
});

test("move takes a folder with all that is in it to the end of another place", async () => {
  const { work, taxes, letters } = await makeTree();
  await stored("Plans", 5, work);
  await stored("Contracts", 3, work);
  expect(await move(taxes, work), "`move` must return null").toBeNull();
  expect(await names(children(work)), "`move` must put the folder after all folders of the new place").toEqual(["Contracts", "Plans", "Taxes"]);
  expect(await names(path(letters)), "what is in a folder must move with it").toEqual(["Work", "Taxes", "2026", "Letters"]);
  expect(await names(children()), "`move` must leave other folders where they are").toEqual(["Home", "Work"]);
});

test("move keeps the name and the note", async () => {
  const { work } = await makeTree();
  await addDocuments("folders", [{ name: "Noted", position: 9, note: "fragile" }]);
  const noted = (await folders()).at(-1);
  if (noted === undefined) throw new Error("The table `folders` must hold what was stored in it");
  await move(noted._id, work);
  expect(await children(work), "`move` must change the place of the folder and nothing else").toEqual([
    { ...noted, parentId: work, position: expect.any(Number) as unknown },
  ]);
});

test("move takes a folder to the top", async () => {
  const { home, year, letters } = await makeTree();
  await move(year);
  expect(await names(children()), "`move` without `parentId` must put the folder at the end of the top").toEqual(["Home", "Work", "2026"]);
  expect(await names(path(letters)), "`move` without `parentId` must make the folder one at the top").toEqual(["2026", "Letters"]);
  const moved = (await folders()).find(({ _id }) => _id === year);
  expect(moved, "a folder that was moved to the top must have no field `parentId`").not.toHaveProperty("parentId");
  await move(home);
  expect(await names(children()), "`move` to the place where the folder is already must make it the last one there").toEqual(["Work", "2026", "Home"]);
});

test("move within a folder makes the folder the last one there", async () => {
  const home = await stored("Home", 1);
  const a = await stored("a", 1, home);
  for (const [name, position] of [["b", 2], ["c", 3]] as const) await stored(name, position, home);
  await move(a, home);
  expect(await names(children(home)), "`move` to the place where the folder is already must make it the last one there").toEqual(["b", "c", "a"]);
  await move(a, home);
  expect(await names(children(home)), "`move` of the last folder to its own place must keep the order").toEqual(["b", "c", "a"]);
});

test("folders come last however often others came and went", async () => {
  const { home, work, taxes } = await makeTree();
  const [a, b, c] = [await create("a", work), await create("b", work), await create("c", work)];
  await move(a, home);
  await create("d", work);
  await move(taxes, work);
  expect(await names(children(work)), "after folders were moved away, new ones must still come last").toEqual(["b", "c", "d", "Taxes"]);
  await move(b, home);
  await move(c, home);
  await create("e", home);
  expect(await names(children(home)), "folders must come in the order in which they arrived").toEqual(["a", "b", "c", "e"]);
  const positions = (await children(work)).map(({ position }) => position);
  expect(new Set(positions).size, "no two folders in the same place may have the same position").toBe(positions.length);
});

test("move refuses cycles", async () => {
  const { home, taxes, year, letters } = await makeTree();
  const before = await folders();
  const cycles = [[home, home, "itself"], [home, taxes, "a folder in it"], [home, year, "a folder below it"], [taxes, letters, "a folder below it"]] as const;
  for (const [folderId, parentId, what] of cycles) {
    await expectError(move(folderId, parentId), `\`move\` of a folder into ${what} must be refused`);
    expect(await folders(), "a `move` that is refused must change nothing").toEqual(before);
  }
  await expectError(move(home, letters), "`move` of a folder into a folder three levels below it must be refused");
  await move(letters, home);
  expect(await names(path(letters)), "`move` upwards on the same way is no cycle").toEqual(["Home", "Letters"]);
});

test("moves at the same time make no cycle", async () => {
  const [a, b] = [await stored("a", 1), await stored("b", 2)];
  const results = await Promise.allSettled([move(a, b), move(b, a)]);
  const statuses = results.map(({ status }) => status).sort();
  expect(statuses, "of two moves into each other, exactly one must be refused").toEqual(["fulfilled", "rejected"]);
  expect((await children()).length, "after two moves into each other, one folder must be at the top").toBe(1);
});

test("move refuses folders that do not exist any more", async () => {
  const id = await gone();
  const { home, work } = await makeTree();
  const before = await folders();
  await expectError(move(home, id), "`move` into a folder that does not exist any more must be refused");
  await expectError(move(id, work), "`move` of a folder that does not exist any more must be refused");
  await expectError(move(id), "`move` of a folder that does not exist any more to the top must be refused");
  expect(await folders(), "a `move` that is refused must change nothing").toEqual(before);
});

test("arguments that are no ids of folders are refused", async () => {
  const home = await stored("Home", 1);
  const wrong = "Home" as FolderId;
  await expectError(create("x", wrong), "`create` with a name as `parentId` must be refused", { by: "arguments" });
  await expectError(children(wrong), "`children` with a name as `parentId` must be refused", { by: "arguments" });
  await expectError(path(wrong), "`path` with a name as `folderId` must be refused", { by: "arguments" });
  await expectError(move(home, wrong), "`move` with a name as `parentId` must be refused", { by: "arguments" });
  await expectError(create(5 as unknown as string), "`create` with a number as `name` must be refused", { by: "arguments" });
});

/** The call's result; where the server stops it for reading too much, the rule that it breaks. */
async function frugal<T>(name: string, call: Promise<T>): Promise<T> {
  return await call.catch((error: unknown) => {
    const message = error instanceof Error ? error.message : String(error);
    throw new Error(`\`${name}\` must not read folders that have nothing to do with the call; it failed: ${message}`, { cause: error });
  });
}

test("no function reads folders that have nothing to do with the call", async () => {
  const { home, work, taxes, letters } = await makeTree();
  // More than Convex lets one function read (16 MiB), in a folder which none of the calls is about.
  const archive = await stored("Archive", 3);
  const heavy = Array.from({ length: 10 }, (_, index) => ({ name: `Box ${index}`, parentId: archive, position: index, note: HUGE }));
  await addDocuments("folders", heavy);
  await addDocuments("folders", heavy.map((box) => ({ ...box, position: box.position + 10 })));

  expect(await names(frugal("children", children(home)))).toEqual(["Taxes"]);
  expect(await names(frugal("children", children()))).toEqual(["Home", "Work", "Archive"]);
  expect(await names(frugal("path", path(letters)))).toEqual(["Home", "Taxes", "2026", "Letters"]);
  await frugal("create", create("Plans", work));
  await frugal("create", create("Garden"));
  await frugal("move", move(taxes, work));
  await frugal("move", move(work));
  expect(await names(children())).toEqual(["Home", "Archive", "Garden", "Work"]);
  expect(await names(children(work))).toEqual(["Plans", "Taxes"]);
});
