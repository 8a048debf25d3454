import { addDocuments, anonymousClient, clearTables, expectError, expectFunctions, expectSameSchema, listTable } from "convex-evals/grader";
import { beforeEach, expect, test } from "vitest";
import { api } from "./answer/convex/_generated/api";

const visitor = anonymousClient();

interface Article {
  title: string;
  language?: string;
  published?: boolean;
  body?: string;
}

const HUGE = "x".repeat(900_000);

beforeEach(() => clearTables("articles"));

/** Stores articles in this order; published English ones where nothing else is said. */
function articles(...stored: (string | Article)[]): Promise<void> {
  return addDocuments(
    "articles",
    stored.map((one) => ({ language: "en", published: true, body: "...", ...(typeof one === "string" ? { title: one } : one) })),
  );
}

/** The titles that are found, in their order. */
async function titles(text: string, { language, count = 10 }: { language?: string; count?: number } = {}): Promise<string[]> {
  const found = await visitor.query(api.articles.search, language === undefined ? { text, count } : { text, language, count });
  return found.map(({ title }) => title);
}

/** The titles that are found, as a set: for tests in which relevance does not matter. */
async function titleSet(...search: Parameters<typeof titles>): Promise<string[]> {
  return (await titles(...search)).sort();
}

test("the table accepts the documents of the task", () => expectSameSchema({ indexes: "ignored" }));

test("search is a public query", () => expectFunctions({ "articles:search": { type: "query", visibility: "public" } }));

test("titles that have one of the words are found", async () => {
  await articles("Cleaning a Kettle", "How to repair a bicycle", "Kettles compared", "Bicycle bells", "Tea");
  expect(
    await titleSet("BICYCLE kettle"),
    "`search` must find titles with either word, whatever the capitals, and words that begin like the last one",
  ).toEqual([
    "Bicycle bells",
    "Cleaning a Kettle",
    "How to repair a bicycle",
    "Kettles compared",
  ]);
  expect(await titles("sandwich"), "`search` must find nothing where no title has the word").toEqual([]);
});

test("only the last word may be the beginning of another one", async () => {
  await articles("Rabbit hole", "Sending a request", "A grabbing robot");
  expect(await titleSet("r"), "`search` must find the beginnings of words").toEqual(["A grabbing robot", "Rabbit hole", "Sending a request"]);
  expect(await titles("rab"), "`search` must not find letters within a word").toEqual(["Rabbit hole"]);
  expect(await titles("rab sending"), "words before the last one must match as a whole").toEqual(["Sending a request"]);
});

test("the most relevant titles come first", async () => {
  await articles("Bread for a week", "A garden of tomato and salad", "Tomato", "My house and its garden", "Garden tomato", "Zebras");
  const found = await titles("tomato garden");
  expect(found.slice(0, 2), "titles with both words must come before those with one, and the shorter one first").toEqual([
    "Garden tomato",
    "A garden of tomato and salad",
  ]);
  expect(found.slice(2).sort(), "titles with one of the words must follow").toEqual(["My house and its garden", "Tomato"]);
  expect(await titles("tomato garden", { count: 1 }), "`search` for one article must return the most relevant one").toEqual(["Garden tomato"]);
});

test("at most `count` articles are found", async () => {
  await articles(...Array.from({ length: 30 }, (_, index) => `Lamp ${index}`));
  expect((await titles("lamp", { count: 10 })).length, "`search` must return `count` articles where there are more").toBe(10);
  expect((await titles("", { count: 7 })).length, "`search` for an empty text must return `count` articles where there are more").toBe(7);
});

test("drafts are never found, and other languages only if no language is given", async () => {
  await articles("Radio", { title: "Radio!", language: "de" }, { title: "Radio?", published: false }, { title: "Radio...", language: "fr" });
  expect(await titleSet("radio"), "`search` without `language` must find published articles in all languages").toEqual(["Radio", "Radio!", "Radio..."]);
  expect(await titles("radio", { language: "de" }), "`search` with `language` must find published articles in this language alone").toEqual(["Radio!"]);
  expect(await titles("radio", { language: "it" }), "`search` in a language without articles must find nothing").toEqual([]);
});

test("an empty text finds the newest articles", async () => {
  await articles("First", { title: "Zweiter", language: "de" }, "Third", { title: "Draft", published: false }, { title: "Letzter", language: "de" });
  for (const text of ["", "  \n "]) {
    const shown = JSON.stringify(text);
    const newest = await titles(text, { count: 3 });
    expect(newest, `\`search\` for ${shown} must find the newest published articles, the newest first`).toEqual(["Letzter", "Third", "Zweiter"]);
    expect(await titles(text, { language: "en" }), `\`search\` for ${shown} must find those in \`language\` alone`).toEqual(["Third", "First"]);
  }
});

test("articles come with their id, title and language, and nothing else", async () => {
  await articles({ title: "Maß", language: "de" });
  const [stored] = await listTable("articles");
  const expected = [{ articleId: stored?._id, title: "Maß", language: "de" }];
  for (const text of ["maß", ""]) {
    expect(await visitor.query(api.articles.search, { text, count: 5 }), "`search` must return objects with the three fields of the task").toEqual(expected);
  }
});

test("arguments of the wrong type are refused", async () => {
  const wrong = { text: "radio", count: "5" } as unknown as { text: string; count: number };
  await expectError(visitor.query(api.articles.search, wrong), "`search` with a string as `count` must be refused", { by: "arguments" });
});

/** The call's result; where the server stops it for reading too much, the rule that it breaks. */
async function frugal<T>(call: Promise<T>, rule: string): Promise<T> {
  return await call.catch((error: unknown) => {
    throw new Error(`${rule}; the call failed: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  });
}

test("no call reads articles that it does not return", async () => {
  await articles("Long story of a kettle", "Another long story of a kettle");
  // More than Convex lets one function read (16 MiB), more relevant and newer than what is searched.
  const ten = (article: Omit<Article, "title">) => articles(...Array.from({ length: 10 }, () => ({ title: "Kettle", body: HUGE, ...article })));
  for (const article of [{ language: "de" }, { published: false }]) {
    await ten(article);
    await ten(article);
  }
  const english = ["Another long story of a kettle", "Long story of a kettle"];
  const foreign = "must not read drafts and articles in other languages";
  const found = await frugal(titleSet("kettle", { language: "en", count: 5 }), `\`search\` in a language ${foreign}`);
  expect(found, "`search` must find all articles in the language, however many others match better").toEqual(english);
  const newest = await frugal(titles("", { language: "en", count: 5 }), `\`search\` for an empty text in a language ${foreign}`);
  expect(newest, "`search` for an empty text must find the articles in the language, the newest first").toEqual(english);
  for (const text of ["kettle", ""]) {
    const first = await frugal(titles(text, { count: 2 }), `\`search\` for ${JSON.stringify(text)} must not read drafts, and no more articles than it returns`);
    expect(first, "`search` without `language` must find the best or newest published articles").toEqual(["Kettle", "Kettle"]);
    // The most that may be asked for, of the longest: twice as many would be too much.
    for (const language of ["de", undefined]) {
      const rule = `\`search\` for ${JSON.stringify(text)} must find ten articles of 900 kB, and must read no others`;
      const most = await frugal(titles(text, { count: 10, ...(language === undefined ? {} : { language }) }), rule);
      expect(most, rule).toEqual(Array.from({ length: 10 }, () => "Kettle"));
    }
  }
});
