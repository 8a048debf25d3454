import {
  addDocuments,
  anonymousClient,
  clearTables,
  eventually,
  expectSameFunctions,
  expectSameSchema,
  openLine,
  openPage,
  type Line,
  type Page,
} from "convex-evals/grader";
import { afterEach, beforeEach, expect, test } from "vitest";
import { api } from "./answer/convex/_generated/api";

const TOPIC = '[aria-label="Topic"]';
const BUTTON = "button";
const SOON = { timeoutMs: 1500 };
const LOADING = "Loading...";
const END = "No more articles";

interface App {
  page: Page;
  line: Line;
}

let app: Promise<App> | undefined;

beforeEach(() => clearTables("articles"));

afterEach(async () => (await app?.catch(() => undefined))?.line.release());

/** The app, opened once for all tests, each of which has topics of its own: an app that does not open is not waited for again. */
function openApp(): Promise<App> {
  app ??= openLine().then(async (line) => {
    const page = await openPage({ backend: line.url });
    const list = async () => expect(await page.texts("ul"), "the page must have one `<ul>`").toHaveLength(1);
    await eventually(list, { what: "the list of articles in the page" }).catch(async (error: unknown) => {
      const reported = (await page.errors()).join("; ") || "nothing";
      throw new Error(`${error instanceof Error ? error.message : String(error)}. The app reported: ${reported}`);
    });
    return { page, line };
  });
  return app;
}

/** Stores articles with these numbers in their titles, the smallest first, among as many on a topic that is never shown. */
async function publish(topic: string, from: number, to: number): Promise<void> {
  const numbers = Array.from({ length: to - from + 1 }, (_, index) => from + index);
  await addDocuments("articles", numbers.flatMap((number) => [{ topic, title: `${topic} ${number}` }, { topic: "gossip", title: `gossip ${number}` }]));
}

/** Titles from the number `newest` down to `oldest`. */
function titles(topic: string, newest: number, oldest: number): string[] {
  return Array.from({ length: newest - oldest + 1 }, (_, index) => `${topic} ${newest - index}`);
}

interface View {
  articles: string[];
  /** Of the button "Load more"; "none" where there is no button. */
  button: "enabled" | "disabled" | "none";
}

async function shows(page: Page, expected: View, what: string): Promise<void> {
  const check = async () => {
    const [lists, articles, buttons, states, text] = await Promise.all([
      page.texts("ul"),
      page.texts("ul > li"),
      page.texts(BUTTON),
      page.states(BUTTON),
      page.text(),
    ]);
    expect(lists, "there must be one `<ul>` when the first page has arrived").toHaveLength(1);
    expect(articles, "the articles in the list").toEqual(expected.articles);
    expect(buttons, "the texts of all buttons").toEqual(expected.button === "none" ? [] : ["Load more"]);
    expect(states, "the button's state").toEqual(expected.button === "none" ? [] : [expected.button]);
    expect(text.includes(END), `"${END}" must be shown when the end is reached, and not before`).toBe(expected.button === "none");
    expect(text.includes(LOADING), `"${LOADING}" must not be shown when the first page has arrived`).toBe(false);
  };
  await eventually(check, { ...SOON, what });
}

async function showsLoading(page: Page): Promise<void> {
  const check = async () => {
    expect(await page.text(), `the text "${LOADING}" must be shown`).toContain(LOADING);
    expect(await page.texts("ul"), "there must be no list").toEqual([]);
    expect(await page.texts(BUTTON), "there must be no button").toEqual([]);
    expect(await page.text(), `the text "${END}" must not be shown`).not.toContain(END);
  };
  await eventually(check, { ...SOON, what: "nothing but the topics and the text Loading... before the first page of a topic has arrived" });
}

async function select(page: Page, topic: string): Promise<void> {
  await page.fill(TOPIC, topic);
}

test("the backend is the given one", async () => {
  await expectSameSchema();
  await expectSameFunctions();
  await addDocuments("articles", [["art", "one"], ["art", "two"], ["law", "three"], ["art", "four"]].map(([topic, title]) => ({ topic, title })));
  const first = await anonymousClient().query(api.articles.onTopic, { topic: "art", paginationOpts: { numItems: 2, cursor: null } });
  expect(first.page.map(({ title }) => title), "`articles.onTopic` must be as given: a page of the articles on the topic, the newest first").toEqual(["four", "two"]);
  expect(first.isDone, "`articles.onTopic` must be as given: more pages follow").toBe(false);
});

test("the topics can be selected, and science is the first", async () => {
  const { page } = await openApp();
  const topics = ["science", "sports", "arts", "travel", "weather"];
  expect(await page.texts(`${TOPIC} option`), "the options must be the five topics, in the order of the task").toEqual(topics);
  await select(page, "science");
  await publish("science", 1, 2);
  await shows(page, { articles: titles("science", 2, 1), button: "none" }, "the articles of the selected topic");
});

test("until the first page of a topic arrives the page says that it is loading", async () => {
  const { page, line } = await openApp();
  await publish("travel", 1, 7);
  line.hold();
  await select(page, "travel");
  await showsLoading(page);
  line.release();
  await shows(page, { articles: titles("travel", 7, 3), button: "enabled" }, "the newest five articles of the topic");
});

test("more articles are added five by five, until the end", async () => {
  const { page, line } = await openApp();
  await publish("sports", 1, 12);
  await select(page, "sports");
  await shows(page, { articles: titles("sports", 12, 8), button: "enabled" }, "the newest five articles of the topic");
  line.hold();
  await page.click(BUTTON);
  await shows(page, { articles: titles("sports", 12, 8), button: "disabled" }, "the list as it was, with a disabled button, while more articles are loading");
  line.release();
  await shows(page, { articles: titles("sports", 12, 3), button: "enabled" }, "five more articles at the end of the list");
  await page.click(BUTTON);
  await shows(page, { articles: titles("sports", 12, 1), button: "none" }, "the last two articles, and no button any more");
  await select(page, "travel");
  await shows(page, { articles: [], button: "none" }, "an empty list for a topic without articles");
  await select(page, "sports");
  await shows(page, { articles: titles("sports", 12, 8), button: "enabled" }, "the newest five articles when the topic is selected again");
});

test("new articles appear, and loaded ones stay", async () => {
  const { page } = await openApp();
  await publish("arts", 1, 12);
  await select(page, "arts");
  await shows(page, { articles: titles("arts", 12, 8), button: "enabled" }, "the newest five articles of the topic");
  await publish("arts", 13, 13);
  await shows(page, { articles: titles("arts", 13, 8), button: "enabled" }, "a new article on top of those that were loaded");
  await page.click(BUTTON);
  await shows(page, { articles: titles("arts", 13, 3), button: "enabled" }, "five more articles at the end of the list");
  await publish("arts", 14, 15);
  await shows(page, { articles: titles("arts", 15, 3), button: "enabled" }, "new articles on top of two loaded pages");
  await page.click(BUTTON);
  await shows(page, { articles: titles("arts", 15, 1), button: "none" }, "all articles once");
});

test("new articles appear when the end is reached", async () => {
  const { page } = await openApp();
  await select(page, "weather");
  await shows(page, { articles: [], button: "none" }, "an empty list for a topic without articles");
  await publish("weather", 1, 1);
  await shows(page, { articles: ["weather 1"], button: "none" }, "the first article of a topic that had none");
  await publish("weather", 2, 3);
  await shows(page, { articles: titles("weather", 3, 1), button: "none" }, "new articles on top of the others");
});
