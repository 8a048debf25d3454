import { addDocuments, anonymousClient, clearTables, expectError, expectSameSchema, listCallable, listTable } from "convex-evals/grader";
import { beforeEach, expect, test } from "vitest";
import { api } from "./answer/convex/_generated/api";

type Article = { title: string; language: string; text: string; embedding?: number[] };

const visitor = anonymousClient();
const VECTOR = [1, 0, 0, 0, 0, 0, 0, 0];

/** An article whose embedding has this cosine similarity with `VECTOR`. */
function article(title: string, similarity: number, language = "en", length = 1): Article {
  return { title, language, text: "", embedding: [similarity * length, Math.sqrt(1 - similarity ** 2) * length, 0, 0, 0, 0, 0, 0] };
}

function search(languages: string[], limit: number, vector = VECTOR) {
  return visitor.action(api.articles.similar, { vector, languages, limit });
}

async function titles(languages: string[], limit: number): Promise<string[]> {
  return (await search(languages, limit)).map(({ title }) => title);
}

beforeEach(() => clearTables("articles"));

test("the table accepts the documents of the task", () => expectSameSchema({ indexes: "ignored" }));

test("clients can call the action, and nothing else", async () => {
  expect(await listCallable(), "clients must be able to call this function and nothing else").toEqual(["articles:similar (action)"]);
});

test("the most similar articles come first, with their scores", async () => {
  const similarities = [0.2, 0.9, -0.7, 0.6, 0];
  await addDocuments("articles", [...similarities.map((similarity) => article(String(similarity), similarity)), article("0.8", 0.8, "en", 40)]);
  const found = await search(["en"], 10);
  const wanted = ["0.9", "0.8", "0.6", "0.2", "0", "-0.7"];
  expect(found.map(({ title }) => title), "the most similar articles must come first, in whatever order they were stored").toEqual(wanted);
  for (const { title, score } of found) expect(score, "`score` must be the cosine similarity").toBeCloseTo(Number(title), 3);
});

test("what is returned has four fields", async () => {
  await addDocuments("articles", [article("only", 0.5, "fr")]);
  const [stored] = await listTable("articles");
  const text = "`similar` must return `_id`, `title`, `language` and `score`, and nothing else";
  expect(await search(["fr"], 5), text).toEqual([{ _id: stored?._id, title: "only", language: "fr", score: expect.any(Number) as unknown }]);
});

test("limit counts the articles in the languages that were asked for", async () => {
  const english = Array.from({ length: 12 }, (_, index) => article(`near ${index}`, 0.99));
  const others = ["de 0.3", "fr 0.4", "de 0.5", "fr 0.1", "it 0.45"].map((title) => article(title, Number(title.slice(3)), title.slice(0, 2)));
  await addDocuments("articles", [...english, ...others]);
  const rule = "articles in other languages must not take places of the `limit`, however similar they are";
  expect(await titles(["de"], 2), rule).toEqual(["de 0.5", "de 0.3"]);
  expect(await titles(["fr"], 1), rule).toEqual(["fr 0.4"]);
  expect(await titles(["fr", "de"], 3), "several languages must be searched together, the most similar first").toEqual(["de 0.5", "fr 0.4", "de 0.3"]);
  const all = ["de 0.5", "it 0.45", "fr 0.4", "de 0.3", "fr 0.1"];
  expect(await titles(["de", "fr", "it"], 100), "where there are fewer articles than `limit`, all must be returned").toEqual(all);
});

test("every limit up to 256 is kept", async () => {
  await addDocuments("articles", Array.from({ length: 260 }, (_, index) => article(String(index), index / 260)));
  const best = Array.from({ length: 260 }, (_, index) => String(259 - index));
  for (const limit of [1, 11, 256]) {
    expect(await titles(["en"], limit), `a \`limit\` of ${limit} must return the ${limit} most similar of 260 articles`).toEqual(best.slice(0, limit));
  }
});

test("limits that are not allowed are refused", async () => {
  await addDocuments("articles", [article("one", 0.5)]);
  for (const limit of [0, -1, 2.5, 257]) {
    await expectError(search(["en"], limit), `\`similar\` with a \`limit\` of ${limit} must throw an error`, { by: "code" });
    await expectError(search([], limit), `\`similar\` with a \`limit\` of ${limit} must throw an error, also without languages`, { by: "code" });
  }
});

test("vectors of another length are refused", async () => {
  await addDocuments("articles", [article("one", 0.5)]);
  for (const vector of [[], VECTOR.slice(1), [...VECTOR, 0]]) {
    await expectError(search(["en"], 5, vector), `\`similar\` with a \`vector\` of ${vector.length} numbers must throw an error`);
  }
});

test("without anything to find the list is empty", async () => {
  expect(await search(["en"], 5), "`similar` without articles must return an empty list").toEqual([]);
  await addDocuments("articles", [{ title: "later", language: "en", text: "" }, article("german", 0.5, "de")]);
  expect(await search(["en"], 5), "`similar` must return no articles without embedding, and an empty list where there are no others").toEqual([]);
  expect(await search([], 5), "`similar` without languages must return an empty list").toEqual([]);
});

test("a large table is searched without reading all of it", async () => {
  // More than Convex lets one function read (16 MiB), so the server stops whoever reads all articles.
  const text = "x".repeat(30_000);
  const languages = ["en", "fr", "it"];
  const others = Array.from({ length: 570 }, (_, index) => ({ ...article(`other ${index}`, 0.6, languages[index % 3]), text }));
  const wanted = [article("second", 0.7), article("first", 0.8), article("zweiter", 0.3, "de"), article("erster", 0.4, "de")];
  await addDocuments("articles", [...others.slice(0, 285), ...wanted]);
  await addDocuments("articles", others.slice(285));
  const found = await titles(["en"], 2).catch((error: unknown) => {
    throw new Error(`\`similar\` must find articles in a table that is larger than one function may read: ${String(error)}`, { cause: error });
  });
  expect(found, "`similar` must return the two most similar articles of a large table").toEqual(["first", "second"]);
  const many = await titles(languages, 190).catch((error: unknown) => {
    throw new Error(`\`similar\` must find 190 articles in three languages, also where there are hundreds with long texts: ${String(error)}`, { cause: error });
  });
  expect(many.length, "`similar` must return as many articles as `limit` says").toBe(190);
  expect(many.slice(0, 2), "the most similar articles must come first, also in a large table").toEqual(["first", "second"]);
  const german = await titles(["de"], 2);
  expect(german, "hundreds of more similar articles in another language must not take the places of the `limit`").toEqual(["erster", "zweiter"]);
});
