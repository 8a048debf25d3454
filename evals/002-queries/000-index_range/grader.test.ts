import { addDocuments, anonymousClient, expectError, expectFunctions, expectSameSchema, listTable } from "convex-evals/grader";
import type { PaginationResult } from "convex/server";
import { beforeAll, expect, test } from "vitest";
import { api } from "./answer/convex/_generated/api";

const visitor = anonymousClient();

// Stored in an order that is neither that of `at` nor its reverse.
const OSLO = [50, 10, 40, 20, 30];
const HUGE = "x".repeat(900_000);

beforeAll(async () => {
  await addDocuments("readings", OSLO.map((at) => ({ station: "oslo", at, celsius: at / 10 })));
  await addDocuments("readings", [35, 20].map((at) => ({ station: "rome", at, celsius: 30 })));
});

function times(readings: { at: number }[]): number[] {
  return readings.map(({ at }) => at);
}

/** The times of a station's whole history, read page by page. */
async function allPages(station: string, numItems: number): Promise<number[]> {
  const found: number[] = [];
  let cursor: string | null = null;
  for (let pages = 0; pages < 20; pages += 1) {
    const result: PaginationResult<{ at: number }> = await visitor.query(api.readings.history, { station, paginationOpts: { numItems, cursor } });
    expect(result, "`history` must return Convex's pagination result").toMatchObject({
      page: expect.any(Array) as unknown,
      isDone: expect.any(Boolean) as unknown,
      continueCursor: expect.any(String) as unknown,
    });
    expect(result.page.length, "a page of `history` must not be longer than `numItems`").toBeLessThanOrEqual(numItems);
    found.push(...times(result.page));
    if (result.isDone) return found;
    cursor = result.continueCursor;
  }
  throw new Error("`history` must come to an end when its last page is reached");
}

test("the table accepts the documents of the task", () => expectSameSchema({ indexes: "ignored" }));

test("the three functions are public queries", async () => {
  const publicQuery = { type: "query", visibility: "public" } as const;
  await expectFunctions({ "readings:between": publicQuery, "readings:latest": publicQuery, "readings:history": publicQuery });
});

test("between includes `from`, leaves out `to`, and starts with the oldest", async () => {
  const found = await visitor.query(api.readings.between, { station: "oslo", from: 20, to: 40 });
  expect(times(found), "`between` from 20 to 40 must return the readings at 20 and 30, in this order").toEqual([20, 30]);
  const all = await visitor.query(api.readings.between, { station: "oslo", from: 0, to: 1000 });
  const stored = (await listTable("readings")).filter((reading) => reading["station"] === "oslo");
  expect(all, "`between` must return whole documents of this station, the oldest first").toEqual(
    stored.sort((a, b) => (a["at"] as number) - (b["at"] as number)),
  );
});

test("between without readings returns an empty list", async () => {
  for (const range of [{ from: 21, to: 29 }, { from: 30, to: 30 }, { from: 51, to: 99 }]) {
    const found = await visitor.query(api.readings.between, { station: "oslo", ...range });
    expect(found, `\`between\` from ${range.from} to ${range.to} must return an empty list`).toEqual([]);
  }
});

test("latest returns the newest readings first", async () => {
  const found = await visitor.query(api.readings.latest, { station: "oslo", count: 3 });
  expect(times(found), "`latest` with a `count` of 3 must return the three newest readings by `at`, the newest first").toEqual([50, 40, 30]);
  const rome = await visitor.query(api.readings.latest, { station: "rome", count: 9 });
  expect(times(rome), "`latest` must return fewer readings where there are fewer").toEqual([35, 20]);
  const none = await visitor.query(api.readings.latest, { station: "nowhere", count: 9 });
  expect(none, "`latest` of a station without readings must return an empty list").toEqual([]);
});

test("history walks through all readings of a station, the newest first", async () => {
  expect(await allPages("oslo", 2), "`history` in pages of two must return every reading once").toEqual([50, 40, 30, 20, 10]);
  expect(await allPages("nowhere", 2), "`history` of a station without readings must have no readings").toEqual([]);
});

test("history accepts all pagination options that `usePaginatedQuery` sends", async () => {
  const paginationOpts = { numItems: 10, cursor: null, id: 1, endCursor: null };
  const { page } = await visitor.query(api.readings.history, { station: "rome", paginationOpts });
  expect(times(page), "`history` must accept the pagination options of `usePaginatedQuery`").toEqual([35, 20]);
});

test("arguments of the wrong type are refused", async () => {
  const wrong = { station: "oslo", from: "20", to: 40 } as unknown as { station: string; from: number; to: number };
  await expectError(visitor.query(api.readings.between, wrong), "`between` with a string as `from` must be refused", { by: "arguments" });
});

/** The call's result; where the server stops it for reading too much, the rule that it breaks. */
async function frugal<T>(call: Promise<T>, rule: string): Promise<T> {
  return await call.catch((error: unknown) => {
    throw new Error(`${rule}; the call failed: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  });
}

test("no query reads more than it returns", async () => {
  // More than Convex lets one function read (16 MiB), so the server stops whoever reads these readings.
  const heavy = (station: string, from: number) =>
    addDocuments("readings", Array.from({ length: 10 }, (_, index) => ({ station, at: from + index, celsius: 0, raw: HUGE })));
  await Promise.all([heavy("airport", 0), heavy("airport", 100), heavy("harbour", 2000), heavy("harbour", 3000)]);
  await addDocuments("readings", [{ station: "harbour", at: 1000, celsius: 7 }, { station: "harbour", at: 5000, celsius: 8 }]);

  const foreign = "must not read readings of other stations";
  const between = await frugal(visitor.query(api.readings.between, { station: "oslo", from: 10, to: 30 }), `\`between\` ${foreign}`);
  expect(times(between)).toEqual([10, 20]);
  const latest = await frugal(visitor.query(api.readings.latest, { station: "oslo", count: 1 }), `\`latest\` ${foreign}`);
  expect(times(latest)).toEqual([50]);
  expect(await frugal(allPages("rome", 1), `\`history\` ${foreign}`)).toEqual([35, 20]);

  const more = "must read only the readings that it returns";
  const one = await frugal(visitor.query(api.readings.between, { station: "harbour", from: 999, to: 1001 }), `\`between\` ${more}`);
  expect(times(one)).toEqual([1000]);
  const newest = await frugal(visitor.query(api.readings.latest, { station: "harbour", count: 1 }), `\`latest\` ${more}`);
  expect(times(newest)).toEqual([5000]);
});
