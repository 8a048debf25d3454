import {
  addDocuments,
  adminClient,
  anonymousClient,
  clearTables,
  eventually,
  expectError,
  expectSameFunctions,
  expectSameSchema,
  listTable,
  openLine,
  openPage,
  ownFields,
  UNREACHABLE,
  type Line,
  type Page,
} from "convex-evals/grader";
import { afterEach, beforeEach, expect, test } from "vitest";
import { api } from "./answer/convex/_generated/api";
import type { Id } from "./answer/convex/_generated/dataModel";

const NAME = '[aria-label="New item"]';
const ADD = "button[type=submit]";
const ALERT = "[role=alert]";
const SOON = { timeoutMs: 1500 };
const LIST = "groceries";

interface App {
  page: Page;
  line: Line;
}

let app: Promise<App> | undefined;

beforeEach(() => clearTables("items", "closures"));

afterEach(async () => (await app?.catch(() => undefined))?.line.release());

/** The app, opened once for all tests: an app that does not open is not waited for again. */
function openApp(): Promise<App> {
  app ??= openLine().then(async (line) => {
    const page = await openPage({ backend: line.url });
    const list = async () => expect(await page.texts("ul"), "the page must have one `<ul>`").toHaveLength(1);
    await eventually(list, { what: "the list of items in the page" }).catch(async (error: unknown) => {
      const reported = (await page.errors()).join("; ") || "nothing";
      throw new Error(`${error instanceof Error ? error.message : String(error)}. The app reported: ${reported}`);
    });
    return { page, line };
  });
  return app;
}

/** The names of the list's items; bought ones end in an asterisk. */
async function shown(page: Page): Promise<string[]> {
  const [items, count] = await Promise.all([page.texts("ul > li"), page.texts("ul > li > button")]);
  expect(count, "each `<li>` must contain nothing but one button with the item's name").toEqual(items);
  const bought = await Promise.all(items.map((_, index) => page.texts(`${button(index + 1)}[aria-pressed="true"]`)));
  const open = await Promise.all(items.map((_, index) => page.texts(`${button(index + 1)}[aria-pressed="false"]`)));
  return items.map((item, index) => `${item}${bought[index]?.length === 1 ? "*" : open[index]?.length === 1 ? "" : " without aria-pressed"}`);
}

function button(position: number): string {
  return `ul > li:nth-child(${position}) > button`;
}

async function shows(page: Page, items: string[], what: string): Promise<void> {
  await eventually(async () => expect(await shown(page), "items of the list, where * means bought").toEqual(items), { ...SOON, what });
}

/** Opens the app on a list of these items, where * means bought. */
async function openList(...items: string[]): Promise<App> {
  if (items.length > 0) {
    await addDocuments("items", items.map((item) => ({ list: LIST, name: item.replace("*", ""), bought: item.endsWith("*") })));
  }
  const opened = await openApp();
  await shows(opened.page, items, "the items of the backend in the list");
  return opened;
}

async function add(page: Page, name: string): Promise<void> {
  await page.fill(NAME, name);
  await eventually(async () => expect(await page.states(ADD)).toEqual(["enabled"]), { ...SOON, what: "the button to be enabled when there is a name" });
  await page.click(ADD);
}

async function stored(): Promise<string[]> {
  return (await listTable("items")).map((item) => `${String(item["name"])}${item["bought"] === true ? "*" : ""}`);
}

async function isStored(items: string[], what: string): Promise<void> {
  await eventually(async () => expect(await stored(), "items of the backend, where * means bought").toEqual(items), { ...SOON, what });
}

async function alerts(page: Page, texts: string[], what: string): Promise<void> {
  await eventually(async () => expect(await page.texts(ALERT)).toEqual(texts), { ...SOON, what });
}

test("the backend is the given one", async () => {
  await expectSameSchema();
  await expectSameFunctions();
  const client = anonymousClient();
  for (const [list, name] of [["a", "bread"], ["b", "soap"], ["a", "apples"]] as const) await client.mutation(api.items.add, { list, name });
  const items = await client.query(api.items.inList, { list: "a" });
  expect(items.map(({ name, bought }) => [name, bought]), "`items.inList` must be as given: the items of the list, the oldest first").toEqual([["bread", false], ["apples", false]]);
  await addDocuments("closures", [{ list: "a" }]);
  await expectError(client.mutation(api.items.add, { list: "a", name: "milk" }), "`items.add` must be as given: nothing is added to a closed list");
  await expectError(client.mutation(api.items.setBought, { itemId: items[0]!._id, bought: true }), "`items.setBought` must be as given: nothing is changed in a closed list");
});

test("until the items arrive the page says that it is loading, even if something is added", async () => {
  const page = await openPage({ backend: UNREACHABLE });
  await eventually(async () => expect(await page.text()).toContain("Loading..."), { ...SOON, what: "the text Loading... before the first items" });
  expect(await page.texts(ADD), "the form must be there before the first items").toEqual(["Add"]);
  await add(page, "Milk");
  await eventually(async () => expect(await page.values(NAME)).toEqual([""]), { ...SOON, what: "the input to be empty as soon as the form is submitted" });
  expect(await page.texts("ul"), "there must be no list before the items have arrived, even if something is added").toEqual([]);
  expect(await page.text(), "the page must say that it is loading until the items have arrived").toContain("Loading...");
});

test("the items are listed, and what others change appears", async () => {
  await addDocuments("items", [{ list: "hardware", name: "Nails", bought: false }]);
  const { page } = await openList("Milk", "Bread*", "Eggs");
  expect(await page.text(), "the text Loading... must be gone when the items are there").not.toContain("Loading...");
  await addDocuments("items", [{ list: LIST, name: "Salt", bought: false }]);
  await shows(page, ["Milk", "Bread*", "Eggs", "Salt"], "an item that somebody else adds to appear");
});

test("an item without a name cannot be added", async () => {
  const { page } = await openList();
  for (const name of ["", "   "]) {
    await page.fill(NAME, name);
    await eventually(async () => expect(await page.states(ADD)).toEqual(["disabled"]), { ...SOON, what: `the button to be disabled with the name "${name}"` });
  }
});

test("a new item is shown before the backend has answered, and once when it has", async () => {
  const { page, line } = await openList("Milk");
  line.hold();
  await add(page, "  Bread ");
  await shows(page, ["Milk", "Bread"], "the new item to be shown before the backend has answered");
  expect(await page.values(NAME), "the input must be empty as soon as the form is submitted").toEqual([""]);
  line.release();
  await isStored(["Milk", "Bread"], "the new item to be stored once, without white space at its ends");
  await addDocuments("items", [{ list: LIST, name: "Salt", bought: false }]);
  await shows(page, ["Milk", "Bread", "Salt"], "the new item to be shown once after the backend has answered");
  const bread = (await listTable("items")).map(ownFields)[1];
  expect(bread, "the new item must be stored in the list, not bought").toEqual({ list: LIST, name: "Bread", bought: false });
  expect(await page.texts(ALERT), "there must be no alert when a change is saved").toEqual([]);
});

test("a changed item is shown before the backend has answered", async () => {
  const { page, line } = await openList("Milk", "Bread*", "Eggs");
  line.hold();
  await page.click(button(1));
  await shows(page, ["Milk*", "Bread*", "Eggs"], "a clicked item to be bought before the backend has answered");
  await page.click(button(2));
  await shows(page, ["Milk*", "Bread", "Eggs"], "a clicked item that was bought to be not bought before the backend has answered");
  expect(await stored(), "nothing can be stored yet: the requests of the page are held back").toEqual(["Milk", "Bread*", "Eggs"]);
  line.release();
  await isStored(["Milk*", "Bread", "Eggs"], "both changes to be stored");
  await shows(page, ["Milk*", "Bread", "Eggs"], "both changes to be shown after they were stored");
});

test("what others change appears while changes wait for their answers", async () => {
  const { page, line } = await openList("Milk", "Bread");
  const bread = (await listTable("items"))[1]?._id as Id<"items">;
  line.hold();
  await page.click(button(1));
  await add(page, "Eggs");
  await shows(page, ["Milk*", "Bread", "Eggs"], "two changes to be shown before the backend has answered");
  await adminClient().mutation(api.items.setBought, { itemId: bread, bought: true });
  await shows(page, ["Milk*", "Bread*", "Eggs"], "a change of somebody else to appear while two changes wait for their answers");
  line.release();
  await isStored(["Milk*", "Bread*", "Eggs"], "all changes to be stored");
  await shows(page, ["Milk*", "Bread*", "Eggs"], "all changes to be shown after they were stored");
});

test("a new item that is refused disappears, with an alert until a change is saved", async () => {
  const { page, line } = await openList("Milk");
  await addDocuments("closures", [{ list: LIST }]);
  line.hold();
  await add(page, "Bread");
  await shows(page, ["Milk", "Bread"], "the new item to be shown before the backend has answered");
  line.release();
  await alerts(page, ["Could not save"], "the alert after an item was refused");
  await shows(page, ["Milk"], "an item that was refused to disappear");
  await clearTables("closures");
  await add(page, "Eggs");
  await shows(page, ["Milk", "Eggs"], "an item to be added after another one was refused");
  await alerts(page, [], "the alert to go away when a change is saved");
});

test("a change that is refused is taken back, and leaves the others as they are", async () => {
  const { page, line } = await openList("Milk", "Bread*");
  await addDocuments("closures", [{ list: LIST }]);
  line.hold();
  await page.click(button(1));
  await page.click(button(2));
  await shows(page, ["Milk*", "Bread"], "two changes to be shown before the backend has answered");
  line.release();
  await alerts(page, ["Could not save"], "the alert after changes were refused");
  await shows(page, ["Milk", "Bread*"], "changes that were refused to be taken back");
  await clearTables("closures");
  await page.click(button(1));
  await shows(page, ["Milk*", "Bread*"], "a change after a refused one to be shown");
  await isStored(["Milk*", "Bread*"], "a change after a refused one to be stored");
  await alerts(page, [], "the alert to go away when a change is saved");
});
