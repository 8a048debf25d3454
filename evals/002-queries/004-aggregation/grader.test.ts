import { addDocuments, anonymousClient, clearTables, eventually, expectError, expectFunctions, expectSameSchema } from "convex-evals/grader";
import { beforeEach, expect, test } from "vitest";
import { api } from "./answer/convex/_generated/api";

const visitor = anonymousClient();

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
// A day of 1995, not at midnight: neither the server's clock nor the calendar gives the right days.
const NOW = 9131 * DAY + 13 * HOUR + 7;
const HUGE = "x".repeat(900_000);

type Sale = [at: number, cents: number, product?: string];

beforeEach(() => clearTables("sales"));

function sell(shop: string, ...sales: Sale[]): Promise<void> {
  return addDocuments("sales", sales.map(([at, cents, product = "bread"]) => ({ shop, product, cents, at })));
}

function perDay(days: number, now = NOW, shop = "north") {
  return visitor.query(api.report.perDay, { shop, now, days });
}

function perProduct(from: number, to: number, shop = "north") {
  return visitor.query(api.report.perProduct, { shop, from, to });
}

test("the table accepts the documents of the task", () => expectSameSchema({ indexes: "ignored" }));

test("both functions are public queries", async () => {
  const publicQuery = { type: "query", visibility: "public" } as const;
  await expectFunctions({ "report:perDay": publicQuery, "report:perProduct": publicQuery });
});

test("perDay adds up each day, the oldest first, also days without sales", async () => {
  await sell("north", [NOW - HOUR, 120], [NOW - 3 * DAY + HOUR, 350], [NOW - 2 * HOUR, 380], [NOW - 3 * DAY + 2 * HOUR, -50]);
  await sell("south", [NOW - HOUR, 999]);
  expect(
    await perDay(4),
    "`perDay` must return one object for each of the four days before `now`, the oldest first, with zeros where nothing was sold",
  ).toEqual([
    { begin: NOW - 4 * DAY, sales: 0, cents: 0 },
    { begin: NOW - 3 * DAY, sales: 2, cents: 300 },
    { begin: NOW - 2 * DAY, sales: 0, cents: 0 },
    { begin: NOW - DAY, sales: 2, cents: 500 },
  ]);
});

test("a day of perDay has its begin and not its end", async () => {
  await sell("north", [NOW - 2 * DAY - 1, 1], [NOW - 2 * DAY, 10], [NOW - DAY - 1, 100], [NOW - DAY, 1000], [NOW - 1, 10_000], [NOW, 100_000]);
  expect(await perDay(2), "sales at the begin of a day belong to it, and sales at `now` or before the oldest day to none").toEqual([
    { begin: NOW - 2 * DAY, sales: 2, cents: 110 },
    { begin: NOW - DAY, sales: 2, cents: 11_000 },
  ]);
});

test("perDay of a shop without sales has days of zeros", async () => {
  const days = await perDay(31);
  expect(days.length, "`perDay` must return 31 days where 31 are asked for").toBe(31);
  expect(days[0], "`perDay` must return zeros for a day without sales").toEqual({ begin: NOW - 31 * DAY, sales: 0, cents: 0 });
});

test("perDay follows `now`", async () => {
  await sell("north", [NOW, 500], [NOW + DAY, 70]);
  expect(await perDay(1, NOW), "a sale at `now` is not counted").toEqual([{ begin: NOW - DAY, sales: 0, cents: 0 }]);
  expect(await perDay(1, NOW + 1), "a sale just before `now` is counted").toEqual([{ begin: NOW + 1 - DAY, sales: 1, cents: 500 }]);
  expect(await perDay(1, NOW + 2 * DAY), "a `now` two days later has other sales").toEqual([{ begin: NOW + DAY, sales: 1, cents: 70 }]);
});

test("perProduct adds up each product, the highest total first", async () => {
  await sell("north", [100, 50, "roll"], [110, 400, "cake"], [120, 50, "roll"], [130, 300, "bread"], [140, 100, "apple pie"], [150, -450, "cake"]);
  await sell("north", [99, 7000, "roll"], [200, 7000, "tart"]);
  await sell("south", [120, 7000, "roll"]);
  const found = await perProduct(100, 200);
  expect(found, "`perProduct` must return the totals from `from` (included) to `to` (not included), the highest first, then by name").toEqual([
    { product: "bread", sales: 1, cents: 300 },
    { product: "apple pie", sales: 1, cents: 100 },
    { product: "roll", sales: 2, cents: 100 },
    { product: "cake", sales: 2, cents: -50 },
  ]);
});

test("perProduct keeps products whose sales and refunds cancel out, and leaves out those without sales", async () => {
  await sell("north", [100, 80, "scone"], [110, -80, "scone"], [300, 10, "roll"]);
  expect(
    await perProduct(100, 200),
    "a product that was sold and refunded must be returned with a sum of 0",
  ).toEqual([{ product: "scone", sales: 2, cents: 0 }]);
  expect(await perProduct(200, 300), "`perProduct` of a time without sales must be an empty list").toEqual([]);
  expect(await perProduct(100, 100), "`perProduct` from a time to the same time must be an empty list").toEqual([]);
});

test("totals are whole numbers", async () => {
  await sell("north", ...Array.from({ length: 12 }, (_, index): Sale => [NOW - 1 - index, 10 + (index % 2) * 19]));
  expect(await perDay(1), "`cents` must be the exact sum of the cents").toEqual([{ begin: NOW - DAY, sales: 12, cents: 234 }]);
  expect(await perProduct(0, NOW), "`cents` must be the exact sum of the cents").toEqual([{ product: "bread", sales: 12, cents: 234 }]);
});

test("all sales of a busy time are counted", async () => {
  await sell("north", ...Array.from({ length: 1030 }, (_, index): Sale => [NOW - DAY + index, 2]));
  expect(await perDay(1), "`perDay` must count all 1030 sales of a day").toEqual([{ begin: NOW - DAY, sales: 1030, cents: 2060 }]);
  expect(await perProduct(NOW - DAY, NOW), "`perProduct` must count all 1030 sales").toEqual([{ product: "bread", sales: 1030, cents: 2060 }]);
});

test("totals that are shown follow new sales", async () => {
  const watch = visitor.watch(api.report.perDay, { shop: "north", now: NOW, days: 1 });
  const cents = (expected: number) =>
    eventually(() => expect(watch.latest()?.[0]?.cents, `a client that shows \`perDay\` must see a total of ${expected}`).toBe(expected));
  await cents(0);
  await sell("north", [NOW - HOUR, 5]);
  await cents(5);
  watch.stop();
});

test("arguments of the wrong type are refused", async () => {
  await expectError(perDay(1, "now" as unknown as number), "`perDay` with a string as `now` must be refused", { by: "arguments" });
});

/** The call's result; where the server stops it for reading too much, the rule that it breaks. */
async function frugal<T>(call: Promise<T>, rule: string): Promise<T> {
  return await call.catch((error: unknown) => {
    throw new Error(`${rule}; the call failed: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  });
}

test("no call reads sales outside its time, or of other shops", async () => {
  // Together more than Convex lets one function read (16 MiB): before, after, or in another shop than what is asked about.
  const heavy = (begin: number) =>
    addDocuments("sales", Array.from({ length: 10 }, (_, index) => ({ shop: "busy", product: "bread", cents: 1, at: begin + index, receipt: HUGE })));
  await heavy(NOW + HOUR);
  await heavy(NOW + 2 * HOUR);
  const later = NOW + 3 * DAY;
  await sell("busy", [NOW - HOUR, 7], [later - HOUR, 7]);
  await sell("north", [later - HOUR, 7]);
  const calls = [
    { shop: "busy", now: later, days: 2, what: "sales from before the time that it asks about" },
    { shop: "busy", now: NOW, days: 2, what: "sales from after the time that it asks about" },
    { shop: "north", now: later, days: 4, what: "sales of other shops" },
  ];
  for (const { shop, now, days, what } of calls) {
    const found = await frugal(perDay(days, now, shop), `\`perDay\` must not read ${what}`);
    expect(found.map(({ sales, cents }) => [sales, cents]), "`perDay` must count the only sale, on the last day").toEqual([
      ...Array.from({ length: days - 1 }, () => [0, 0]),
      [1, 7],
    ]);
    const products = await frugal(perProduct(now - days * DAY, now, shop), `\`perProduct\` must not read ${what}`);
    expect(products, "`perProduct` must count the only sale").toEqual([{ product: "bread", sales: 1, cents: 7 }]);
  }
});
