import {
  addDocuments,
  adminClient,
  anonymousClient,
  clearTables,
  eventually,
  expectFunctions,
  expectSameSchema,
  listCallable,
  listTable,
} from "convex-evals/grader";
import { makeFunctionReference } from "convex/server";
import { beforeEach, expect, test } from "vitest";
import { api } from "./answer/convex/_generated/api";

const visitor = anonymousClient();

/** A run that stands still for this long has stopped. */
const STILL_MS = 2500;

interface Progress {
  status: string;
  processed: number;
}

/** Customers whose e-mail addresses are told apart by their number. */
function customers(count: number, fields: { emailKey?: string; notes?: string } = {}) {
  return Array.from({ length: count }, (_, index) => ({ email: `  Customer${index}@Example.ORG\n`, ...fields }));
}

function keys(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `customer${index}@example.org`);
}

// A run that never ends would keep all later ones from being started: the tests behind it need not wait for it again.
let endless = false;

async function start(batchSize: number): Promise<boolean> {
  if (endless) throw new Error("every run must come to an end; the one of an earlier test did not");
  return await visitor.mutation(api.backfill.start, { batchSize });
}

/** Waits for the end of the newest run, as long as it makes progress and counts no more customers than there are. */
async function finished(customerCount: number): Promise<void> {
  let seen: Progress | null = null;
  let changedAt = performance.now();
  endless = true;
  const end = await eventually(
    async () => {
      const call: Promise<Progress | null> = visitor.query(api.backfill.progress, {});
      const progress = await call.catch((error: unknown) => ({ status: "failed", processed: 0, error }));
      const now = performance.now();
      if (JSON.stringify(progress) !== JSON.stringify(seen)) [seen, changedAt] = [progress, now];
      if (progress?.status === "done") endless = false;
      const isOver = progress?.status === "done" || progress?.status === "failed" || (progress?.processed ?? 0) > customerCount;
      return isOver || now - changedAt > STILL_MS ? { progress } : null;
    },
    { what: `the end of a run through ${customerCount} customers`, timeoutMs: 20_000 },
  );
  expect(end.progress, "a run must end, and `progress` then return the status \"done\" and the number of customers, each counted once").toEqual({
    status: "done",
    processed: customerCount,
  });
}

const tableData = makeFunctionReference<
  "query",
  { table: string; order: "asc" | "desc"; paginationOpts: { numItems: number; cursor: string | null } },
  { page: { emailKey?: string }[] }
>("_system/cli/tableData");

/** The keys of the first and the last customers: all of them together may be more than one call may read. */
async function outerKeys(): Promise<unknown[]> {
  const ends = (["asc", "desc"] as const).map(async (order) => {
    return await adminClient().query(tableData, { table: "customers", order, paginationOpts: { numItems: 2, cursor: null } });
  });
  return (await Promise.all(ends)).flatMap(({ page }) => page.map(({ emailKey }) => emailKey));
}

async function storedKeys(): Promise<unknown[]> {
  return (await listTable("customers")).map(({ emailKey }) => emailKey);
}

beforeEach(() => clearTables("customers"));

test("the table accepts the documents of the task", () => expectSameSchema({ tables: ["customers"], indexes: "ignored" }));

test("start and progress are the only functions that clients can call", async () => {
  await expectFunctions({
    "backfill:start": { type: "mutation", visibility: "public" },
    "backfill:progress": { type: "query", visibility: "public" },
  });
  expect(await listCallable(), "clients must be able to call `start` and `progress` and no other function").toEqual([
    "backfill:progress (query)",
    "backfill:start (mutation)",
  ]);
});

test("progress is null before the first run, and a run without customers is done with 0", async () => {
  expect(await visitor.query(api.backfill.progress, {}), "`progress` must return null as long as no run was started").toBeNull();
  expect(await start(5), "`start` must return true when it starts a run").toBe(true);
  await finished(0);
});

test.for([
  { count: 7, batchSize: 3, what: "a last batch that is smaller than the others" },
  { count: 6, batchSize: 3, what: "a last batch that is full" },
  { count: 3, batchSize: 1, what: "batches of one" },
  { count: 4, batchSize: 50, what: "one batch for all" },
])("a run handles each customer once: $what", async ({ count, batchSize }) => {
  await addDocuments("customers", customers(count));
  const before = await listTable("customers");
  await start(batchSize);
  await finished(count);
  const expected = before.map((customer, index) => ({ ...customer, emailKey: keys(count)[index] }));
  expect(await listTable("customers"), "a run must set the `emailKey` of every customer, trimmed and in lower case, and change nothing else").toEqual(expected);
});

test("the next run goes through all customers again", async () => {
  await addDocuments("customers", customers(5, { emailKey: "out of date" }));
  await start(2);
  await finished(5);
  expect(await storedKeys(), "a run must renew an `emailKey` that is out of date").toEqual(keys(5));
  await addDocuments("customers", customers(3));
  expect(await start(2), "`start` must return true after the run before it is done").toBe(true);
  await finished(8);
  expect(await storedKeys(), "the second run must go through all customers, new ones too").toEqual([...keys(5), ...keys(3)]);
});

test("only one run goes on at a time", async () => {
  const count = 40;
  await addDocuments("customers", customers(count));
  let answers: boolean[] = [];
  // A run that was over before the next call arrived proves nothing: then once more.
  for (let attempt = 0; attempt < 3 && answers.filter((answer) => answer).length !== 1; attempt += 1) {
    answers = await Promise.all(Array.from({ length: 3 }, () => start(1)));
    await finished(count);
  }
  expect(answers.sort(), "of three simultaneous calls of `start` one must return true and the others false").toEqual([false, false, true]);
  expect(await storedKeys(), "a run that another `start` met must still handle every customer").toEqual(keys(count));
});

test("a run through more than one function may read goes batch by batch", async () => {
  // More than Convex lets one function read (16 MiB), so the server stops whoever reads all of it.
  const notes = "x".repeat(900_000);
  const count = 19;
  const heavy = customers(count, { notes });
  await addDocuments("customers", heavy.slice(0, 10));
  await addDocuments("customers", heavy.slice(10));

  const watch = visitor.watch(api.backfill.progress, {});
  await eventually(() => watch.latest() !== undefined || watch.error() !== undefined, { what: "the first result of a subscription to `progress`" });
  const started = await start(2).catch((error: unknown) => {
    throw new Error(`\`start\` must not read all customers; it failed: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  });
  expect(started, "`start` must return true when it starts a run").toBe(true);
  await finished(count);
  const isDone = () => watch.history().some((progress) => progress?.status === "running") && watch.latest()?.status === "done";
  await eventually(isDone, { what: "a subscription to `progress` to see the run go on and come to its end" });
  // What came before the first "running" is the run of an earlier test.
  const seen = watch.history().slice(watch.history().findIndex((progress) => progress?.status === "running"));
  watch.stop();
  expect(
    seen.some((progress) => progress?.status === "running" && progress.processed > 0),
    `\`progress\` must grow with each batch; a subscription saw only ${JSON.stringify(seen)}`,
  ).toBe(true);
  const early = seen.filter((progress) => progress?.status === "done" && progress.processed !== count);
  expect(early, "`progress` must not be \"done\" before the last customer has been handled").toEqual([]);
  const all = keys(count);
  const outer = [all[0], all[1], all[count - 1], all[count - 2]];
  expect(await outerKeys(), "a run must handle every customer of a big table, the first and the last ones too").toEqual(outer);
});
