import { addDocuments, anonymousClient, clearTables, expectComponentUsed, expectError, expectFunctions, expectSameSchema, listTable } from "convex-evals/grader";
import { beforeEach, expect, test } from "vitest";
import { api } from "./answer/convex/_generated/api";

const TEN_MINUTES = 10 * 60 * 1000;
const visitor = anonymousClient();

beforeEach(() => clearTables("comments"));

// The tokens of an author outlive a test, so each test has authors of its own.
function post(author: string, text = "hello") {
  return visitor.mutation(api.comments.post, { author, text });
}

async function comments(): Promise<string[]> {
  return (await listTable("comments")).map(({ author, text }) => `${author as string}: ${text as string}`);
}

test("the table accepts the documents of the task", () => expectSameSchema({ indexes: "ignored" }));

test("post is a public mutation and canPost a public query", async () => {
  await expectFunctions({
    "comments:post": { type: "mutation", visibility: "public" },
    "comments:canPost": { type: "query", visibility: "public" },
  });
});

test("the tokens are kept by the component", () =>
  expectComponentUsed("@convex-dev/rate-limiter", "The tokens of an author who posts", () => post("hedy")));

test("an author posts three comments at once, and no fourth", async () => {
  for (const text of ["one", "two", "three"]) {
    expect(await post("ada", text), "`post` with a token left must return `{ posted: true }`").toEqual({ posted: true });
  }
  expect(await comments(), "`post` must insert the comments").toEqual(["ada: one", "ada: two", "ada: three"]);
  const refused = await post("ada", "four");
  expect(refused, "the fourth comment in a row must be refused with `{ posted: false, retryAfter }`").toEqual({
    posted: false,
    retryAfter: expect.any(Number) as unknown,
  });
  expect(await comments(), "a comment that is refused must not be inserted").toHaveLength(3);
});

// A fixed window begins at a random time for each author, so that one of thirty is also refused for about ten minutes.
test("the next token comes ten minutes later, for each author", async () => {
  for (const author of ["mary", "annie", "katherine", "dorothy"]) {
    for (const text of ["one", "two", "three"]) await post(author, text);
    const { retryAfter } = (await post(author, "four")) as { retryAfter: number };
    expect(retryAfter, "6 tokens per hour: the next one comes within ten minutes").toBeLessThanOrEqual(TEN_MINUTES);
    expect(retryAfter, "6 tokens per hour: directly after the first three the next one is nearly ten minutes away").toBeGreaterThan(0.9 * TEN_MINUTES);
  }
});

test("authors do not influence each other", async () => {
  for (const text of ["one", "two", "three", "four"]) await post("bob", text);
  expect(await post("grace"), "an author must be able to post when another one has no tokens left").toEqual({ posted: true });
});

test("canPost tells whether there is a token, and takes none", async () => {
  const canPost = () => visitor.query(api.comments.canPost, { author: "alan" });
  for (const text of ["one", "two", "three"]) {
    for (let times = 0; times < 4; times += 1) {
      expect(await canPost(), "`canPost` must be true as long as there are tokens, however often it is asked").toBe(true);
    }
    expect(await post("alan", text), "`canPost` must not take tokens: three comments must be possible").toEqual({ posted: true });
  }
  expect(await canPost(), "`canPost` must be false after three comments").toBe(false);
});

test("comments that are posted at the same time are all counted", async () => {
  const results = await Promise.all(["1", "2", "3", "4", "5", "6"].map((text) => post("edsger", text)));
  expect(results.filter(({ posted }) => posted), "of six comments at the same time three must be posted").toHaveLength(3);
  expect((await comments()).sort(), "of six comments at the same time three must be inserted").toHaveLength(3);
});

test("an empty text is refused and takes no token", async () => {
  for (let times = 0; times < 4; times += 1) await expectError(post("barbara", ""), "An empty text must be refused with an error");
  for (const text of ["one", "two", "three"]) {
    expect(await post("barbara", text), "refused empty texts must take no tokens").toEqual({ posted: true });
  }
  expect(await comments(), "an empty text must not be inserted").toHaveLength(3);
});

test("what was posted before counts by the component's tokens, not by the table", async () => {
  await addDocuments("comments", ["one", "two", "three"].map((text) => ({ author: "donald", text })));
  expect(await post("donald", "four"), "comments that were not posted through `post` must take no tokens").toEqual({ posted: true });
});
