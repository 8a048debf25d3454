import {
  addDocuments,
  anonymousClient,
  clearTables,
  expectError,
  expectFunctions,
  expectSameSchema,
  listFunctions,
  listTable,
  ownFields,
} from "convex-evals/grader";
import type { GenericDocument } from "convex/server";
import { beforeEach, expect, test } from "vitest";
import { api } from "./answer/convex/_generated/api";
import type { Doc, Id } from "./answer/convex/_generated/dataModel";

const visitor = anonymousClient();

const soup = {
  title: "Soup",
  servings: 4,
  source: null,
  ingredients: [
    { name: "water", amount: 1.5, unit: "l" },
    { name: "leek", amount: 2 },
  ],
  nutrients: { protein: 12, "saturated fat": 3.5, "vitamin b12": 0.001 },
  author: { name: "Ada", site: { url: "https://example.com", title: null } },
};
const bread = { title: "Bread", servings: 0, source: "grandmother", ingredients: [], nutrients: {}, author: { name: "Alan" } };
const rated = { ...soup, title: "Rated soup", rating: 0, author: { name: "Ada", site: { url: "https://example.com", title: "Ada cooks" } } };

const { source: _, ...withoutSource } = soup;

const recipes = () => listTable<Doc<"recipes">>("recipes");

/** Stores a recipe past the functions and returns it as it is stored. */
async function stored(recipe: GenericDocument = soup): Promise<Doc<"recipes">> {
  await addDocuments("recipes", [recipe]);
  const newest = (await recipes()).at(-1);
  if (newest === undefined) throw new Error("The table `recipes` must hold what was stored in it");
  return newest;
}

/** Asserts what a mutation made of a recipe: in the table, and in what it returned. */
async function expectRecipe(name: string, returned: unknown, expected: Doc<"recipes">, rule: string): Promise<void> {
  const found = (await recipes()).find(({ _id }) => _id === expected._id);
  expect(found, `${rule}, and keep everything else`).toEqual(expected);
  expect(returned, `\`${name}\` must return the whole recipe as it is stored afterwards`).toEqual(expected);
}

beforeEach(() => clearTables("recipes"));

test("the table accepts the documents of the task", async () => {
  await expectSameSchema({ indexes: "ignored" });
  for (const recipe of [soup, bread, rated]) expect(ownFields(await stored(recipe)), "a recipe must be stored as it was written").toEqual(recipe);
  await expectError(addDocuments("recipes", [withoutSource]), "The table `recipes` must refuse a recipe without `source`");
  await expectError(addDocuments("recipes", [{ ...soup, rating: null }]), "The table `recipes` must refuse a `rating` of null");
  await expectError(addDocuments("recipes", [{ ...soup, nutrients: { salt: "1 g" } }]), "The table `recipes` must refuse nutrients that are no numbers");
});

test("the functions are public queries and mutations which declare what they return", async () => {
  const publicQuery = { type: "query", visibility: "public" } as const;
  const publicMutation = { type: "mutation", visibility: "public" } as const;
  const expected = {
    "recipes:create": publicMutation,
    "recipes:get": publicQuery,
    "recipes:list": publicQuery,
    "recipes:update": publicMutation,
    "recipes:rate": publicMutation,
    "recipes:setNutrient": publicMutation,
    "recipes:remove": publicMutation,
  };
  await expectFunctions(expected);
  const functions = await listFunctions();
  for (const name of Object.keys(expected)) {
    expect(functions.get(name)?.returns.type, `\`${name}\` must declare what it returns, so that Convex refuses anything else`).not.toBe("any");
  }
});

test("create stores a recipe and returns it", async () => {
  for (const recipe of [soup, bread]) {
    await clearTables("recipes");
    const returned = await visitor.mutation(api.recipes.create, recipe);
    const [created, ...more] = await recipes();
    expect(created && ownFields(created), "`create` must store exactly the given fields").toEqual(recipe);
    expect(more, "`create` must store one recipe").toEqual([]);
    expect(returned, "`create` must return the whole recipe, the fields that Convex adds included").toEqual(created);
  }
});

const refusedArguments: [GenericDocument, string][] = [
  [{ ...soup, rating: 5 }, "a rating"],
  [withoutSource, "no `source`: null means that nobody knows it"],
  [{ ...soup, title: null }, "null as `title`"],
  [{ ...soup, nutrients: { salt: "1 g" } }, "a nutrient that is no number"],
  [{ ...soup, ingredients: [{ name: "water" }] }, "an ingredient without `amount`"],
  [{ ...soup, ingredients: [{ name: "water", amount: 1, unit: null }] }, "null as `unit`: it is absent instead"],
  [{ ...soup, author: { name: "Ada", site: { url: "https://example.com" } } }, "a site without `title`"],
  [{ ...soup, author: { name: "Ada", site: null } }, "null as `site`: it is absent instead"],
];

test.each(refusedArguments)("create refuses %j", async (recipe, what) => {
  const call = visitor.mutation(api.recipes.create, recipe as typeof soup);
  await expectError(call, `\`create\` with ${what} must be refused`, { by: "arguments" });
  expect(await recipes(), "a `create` that is refused must store nothing").toEqual([]);
});

test("get returns whole recipes", async () => {
  for (const recipe of [soup, bread, rated]) {
    const document = await stored(recipe);
    const found = await visitor.query(api.recipes.get, { recipeId: document._id });
    expect(found, "`get` must return the whole recipe as it is stored, the fields that Convex adds included").toEqual(document);
  }
});

test("list returns all recipes, the newest first", async () => {
  expect(await visitor.query(api.recipes.list, {}), "`list` without recipes must return an empty list").toEqual([]);
  const documents = [await stored(soup), await stored(rated), await stored(bread)];
  const found = await visitor.query(api.recipes.list, {});
  expect(found, "`list` must return all whole recipes, the one that was stored last first").toEqual(documents.toReversed());
});

test("update changes what is given and nothing else", async () => {
  const before = await stored(rated);
  await stored(bread);
  const { _id: recipeId } = before;
  const changes = [
    {},
    { title: "Better soup" },
    { servings: 0 },
    { title: "" },
    { source: "neighbour" },
    { source: null },
    { author: { name: "Grace" } },
    { title: "Soup of the day", servings: 2, source: "", author: { name: "Kurt", site: { url: "", title: null } } },
  ];
  let expected = before;
  for (const change of changes) {
    const returned = await visitor.mutation(api.recipes.update, { recipeId, ...change });
    expected = { ...expected, ...change };
    await expectRecipe("update", returned, expected, `\`update\` with ${JSON.stringify(change)} must store exactly these fields`);
  }
  expect((await recipes()).map(ownFields).at(-1), "`update` must leave other recipes alone").toEqual(bread);
});

test("rate stores a rating and removes it", async () => {
  const unrated = await stored(soup);
  const { _id: recipeId } = unrated;
  const rate = (rating: number | null) => visitor.mutation(api.recipes.rate, { recipeId, rating });
  const removed = "`rate` with null must remove the field `rating`";
  await expectRecipe("rate", await rate(null), unrated, removed);
  await expectRecipe("rate", await rate(4.5), { ...unrated, rating: 4.5 }, "`rate` must store the rating");
  await expectRecipe("rate", await rate(0), { ...unrated, rating: 0 }, "`rate` must store a rating of 0");
  await expectRecipe("rate", await rate(null), unrated, removed);
});

test("setNutrient changes one nutrient", async () => {
  const before = await stored(soup);
  const { _id: recipeId, nutrients } = before;
  const set = (nutrient: string, grams: number | null) => visitor.mutation(api.recipes.setNutrient, { recipeId, nutrient, grams });
  const others = "must leave the other nutrients as they are";
  const added = { ...before, nutrients: { ...nutrients, "omega 3": 0.3 } };
  await expectRecipe("setNutrient", await set("omega 3", 0.3), added, `\`setNutrient\` must add the nutrient and ${others}`);
  const changed = { ...before, nutrients: { ...added.nutrients, protein: 0 } };
  await expectRecipe("setNutrient", await set("protein", 0), changed, `\`setNutrient\` must store the new grams, 0 too, and ${others}`);
  const { protein: _, ...rest } = changed.nutrients;
  const removed = { ...before, nutrients: rest as Doc<"recipes">["nutrients"] };
  await expectRecipe("setNutrient", await set("protein", null), removed, `\`setNutrient\` with null must remove the nutrient and ${others}`);
  const again = "`setNutrient` with null for a nutrient that is not there must change nothing";
  await expectRecipe("setNutrient", await set("protein", null), removed, again);
});

test("remove deletes the recipe and returns it as it was", async () => {
  const other = await stored(bread);
  const document = await stored(rated);
  const returned = await visitor.mutation(api.recipes.remove, { recipeId: document._id });
  expect(returned, "`remove` must return the whole recipe as it was").toEqual(document);
  expect(await recipes(), "`remove` must delete this recipe and no other").toEqual([other]);
});

test("a recipe that does not exist any more is null", async () => {
  const { _id: recipeId } = await stored(soup);
  await clearTables("recipes");
  const other = await stored(bread);
  const calls: Record<string, () => Promise<unknown>> = {
    get: () => visitor.query(api.recipes.get, { recipeId }),
    update: () => visitor.mutation(api.recipes.update, { recipeId, title: "x" }),
    rate: () => visitor.mutation(api.recipes.rate, { recipeId, rating: 1 }),
    setNutrient: () => visitor.mutation(api.recipes.setNutrient, { recipeId, nutrient: "salt", grams: 1 }),
    remove: () => visitor.mutation(api.recipes.remove, { recipeId }),
  };
  for (const [name, call] of Object.entries(calls)) {
    expect(await call(), `\`${name}\` of a recipe that does not exist any more must return null`).toBeNull();
  }
  expect(await recipes(), "functions about a recipe that does not exist any more must change nothing").toEqual([other]);
});

test("arguments of the wrong type are refused", async () => {
  const { _id: recipeId } = await stored(soup);
  const wrong = (value: unknown) => value as never;
  const calls: Record<string, () => Promise<unknown>> = {
    "`get` with a title as `recipeId`": () => visitor.query(api.recipes.get, { recipeId: "Soup" as Id<"recipes"> }),
    "`update` with null as `title`": () => visitor.mutation(api.recipes.update, { recipeId, title: wrong(null) }),
    "`update` with an author without `name`": () => visitor.mutation(api.recipes.update, { recipeId, author: wrong({}) }),
    "`rate` with a string": () => visitor.mutation(api.recipes.rate, { recipeId, rating: wrong("5") }),
    "`setNutrient` with a string as `grams`": () =>
      visitor.mutation(api.recipes.setNutrient, { recipeId, nutrient: "salt", grams: wrong("5") }),
  };
  for (const [what, call] of Object.entries(calls)) await expectError(call(), `${what} must be refused`, { by: "arguments" });
});
