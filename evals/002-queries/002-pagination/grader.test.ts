import { addDocuments, anonymousClient, clearTables, eventually, expectError, expectFunctions, expectSameSchema, listTable } from "convex-evals/grader";
import type { PaginationOptions } from "convex/server";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { api } from "./answer/convex/_generated/api";
import type { Id } from "./answer/convex/_generated/dataModel";

const visitor = anonymousClient();

type Status = "open" | "closed";

const HUGE = "x".repeat(900_000);

let ada: Id<"agents">;
let gone: Id<"agents">;

beforeAll(async () => {
  const agent = async (name: string): Promise<Id<"agents">> => {
    await addDocuments("agents", [{ name }]);
    return (await listTable("agents")).at(-1)?._id as Id<"agents">;
  };
  gone = await agent("Left");
  await clearTables("agents");
  ada = await agent("Ada");
});

beforeEach(() => clearTables("tickets"));

/** Stores tickets in this order; "b5" has the subject "b5" and the priority 5. */
function tickets(status: Status, ...subjects: string[]): Promise<void> {
  return addDocuments("tickets", subjects.map((subject) => ({ subject, status, priority: Number(subject.slice(1)) })));
}

function subjects(page: { subject: string }[]): string[] {
  return page.map(({ subject }) => subject);
}

/** Optional arguments are left out, not sent as undefined. */
function onePage(paginationOpts: PaginationOptions, status?: Status) {
  return visitor.query(api.tickets.list, status === undefined ? { paginationOpts } : { status, paginationOpts });
}

/** The subjects of all pages, one list for each page. */
async function allPages(numItems: number, status?: Status): Promise<string[][]> {
  const pages: string[][] = [];
  let cursor: string | null = null;
  while (pages.length < 20) {
    const result: Awaited<ReturnType<typeof onePage>> = await onePage({ numItems, cursor }, status);
    expect(result, "`list` must return Convex's pagination result").toMatchObject({
      page: expect.any(Array) as unknown,
      isDone: expect.any(Boolean) as unknown,
      continueCursor: expect.any(String) as unknown,
    });
    pages.push(subjects(result.page));
    if (result.isDone) return pages;
    expect(result.page.length, "each page but the last must have as many tickets as `numItems` says").toBe(numItems);
    cursor = result.continueCursor;
  }
  throw new Error("`list` must come to an end when its last page is reached");
}

test("the tables accept the documents of the task", () => expectSameSchema({ indexes: "ignored" }));

test("list is a public query", () => expectFunctions({ "tickets:list": { type: "query", visibility: "public" } }));

test("tickets of one status come page by page, the highest priority first, then the newest", async () => {
  await tickets("open", "a3", "b1");
  await tickets("closed", "c9", "d3");
  await tickets("open", "e3", "f10", "g2", "h3");
  const open = await allPages(2, "open");
  expect(
    open.flat(),
    "`list` of open tickets must return each of them once, by priority and then the newest first",
  ).toEqual(["f10", "h3", "e3", "a3", "g2", "b1"]);
  expect((await allPages(3, "closed")).flat(), "`list` of closed tickets must return these alone").toEqual(["c9", "d3"]);
});

test("without a status all tickets come in one order", async () => {
  await tickets("open", "a3", "b1");
  await tickets("closed", "c9", "d3");
  await tickets("open", "e3");
  const all = await allPages(2);
  expect(all.flat(), "`list` without `status` must return all tickets, by priority and then the newest first").toEqual(["c9", "e3", "d3", "a3", "b1"]);
});

test("a status without tickets has one empty page", async () => {
  await tickets("open", "a3");
  const { page, isDone } = await onePage({ numItems: 5, cursor: null }, "closed");
  expect({ page, isDone }, "`list` of a status without tickets must have an empty page that is the last").toEqual({ page: [], isDone: true });
});

test("tickets are joined with the names of their agents", async () => {
  await addDocuments("tickets", [
    { subject: "with", status: "open", priority: 3, agentId: ada },
    { subject: "without", status: "closed", priority: 2, log: "called twice" },
    { subject: "left", status: "open", priority: 1, agentId: gone },
  ]);
  const [first, second, third] = (await listTable("tickets")).map(({ _id }) => _id);
  const { page } = await onePage({ numItems: 5, cursor: null });
  expect(page, "`page` must hold the five fields of each ticket; `agent` must be null where there is none or where it was deleted").toEqual([
    { ticketId: first, subject: "with", status: "open", priority: 3, agent: "Ada" },
    { ticketId: second, subject: "without", status: "closed", priority: 2, agent: null },
    { ticketId: third, subject: "left", status: "open", priority: 1, agent: null },
  ]);
});

test("all options of usePaginatedQuery are accepted, and a page can be asked to end where another one ended", async () => {
  await tickets("open", "a5", "b4", "c3", "d2");
  const first = await onePage({ numItems: 2, cursor: null, id: 7 } as PaginationOptions, "open");
  await tickets("open", "e9");
  const again = await onePage({ numItems: 2, cursor: null, id: 7, endCursor: first.continueCursor } as PaginationOptions, "open");
  expect(subjects(again.page), "a page with an `endCursor` must have all tickets up to this cursor").toEqual(["e9", "a5", "b4"]);
  const next = await onePage({ numItems: 9, cursor: again.continueCursor, id: 7 } as PaginationOptions, "open");
  expect(subjects(next.page), "the next page must begin where the page before ended").toEqual(["c3", "d2"]);
});

test("a page that another option ends earlier is handed on with all that Convex says about it", async () => {
  await tickets("open", "a5", "b4", "c3", "d2", "e1");
  for (const status of ["open", undefined] as const) {
    const first = await onePage({ numItems: 4, cursor: null, maximumRowsRead: 3 }, status);
    expect(subjects(first.page), "a page with a `maximumRowsRead` of 3 must end after three tickets, as Convex's pagination does").toEqual(["a5", "b4", "c3"]);
    expect(first.isDone, "a page that `maximumRowsRead` ends must not be the last, since more tickets follow").toBe(false);
    expect(first.pageStatus, "`list` must return the `pageStatus` of Convex's pagination, which tells that this page has to be split").toBe("SplitRequired");
    const middle = first.splitCursor ?? null;
    expect(middle, "`list` must return the `splitCursor` of Convex's pagination where a page has to be split").not.toBeNull();
    const halves = [
      await onePage({ numItems: 4, cursor: null, endCursor: middle }, status),
      await onePage({ numItems: 4, cursor: middle, endCursor: first.continueCursor }, status),
    ];
    expect(halves.flatMap(({ page }) => subjects(page)), "the two halves of a page that is split must have its tickets").toEqual(["a5", "b4", "c3"]);
    const next = await onePage({ numItems: 4, cursor: first.continueCursor }, status);
    expect(subjects(next.page), "the next page must begin where `maximumRowsRead` ended the page before").toEqual(["d2", "e1"]);
  }
});

test("pages that are shown grow together without gaps and duplicates", async () => {
  await tickets("open", "a8", "b6", "c4", "d2");
  const watch = (cursor: string | null) => visitor.watch(api.tickets.list, { status: "open", paginationOpts: { numItems: 2, cursor } });
  const first = watch(null);
  const { continueCursor } = await eventually(() => first.latest() ?? null, { what: "the first page of `list`" });
  const second = watch(continueCursor);
  const shown = () => [...(first.latest()?.page ?? []), ...(second.latest()?.page ?? [])].map(({ subject }) => subject);
  await eventually(() => expect(shown(), "the two pages must show the four tickets").toEqual(["a8", "b6", "c4", "d2"]));
  await tickets("closed", "x9");
  await tickets("open", "e9", "f7", "g3");
  const all = ["e9", "a8", "f7", "b6", "c4", "g3", "d2"];
  await eventually(() => expect(shown(), "new tickets must appear in the pages that are shown, and none may be lost or doubled").toEqual(all));
  first.stop();
  second.stop();
});

test("a status that does not exist is refused", async () => {
  const call = onePage({ numItems: 1, cursor: null }, "lost" as Status);
  await expectError(call, "`list` with the status \"lost\" must be refused");
});

/** The call's result; where the server stops it for reading too much, the rule that it breaks. */
async function frugal<T>(call: Promise<T>, rule: string): Promise<T> {
  return await call.catch((error: unknown) => {
    throw new Error(`${rule}; the call failed: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  });
}

test("a page reads no more than its own tickets", async () => {
  await tickets("open", "a50", "b40", "c30");
  // Together more than Convex lets one function read (16 MiB), between two open tickets.
  for (const priority of [45, 44]) {
    const closed = { subject: "heavy", status: "closed", priority, log: HUGE };
    await addDocuments("tickets", Array.from({ length: 10 }, () => closed));
  }
  await tickets("open", "d20");
  const open = await frugal(allPages(2, "open"), "a page of open tickets must not read closed ones");
  expect(open.flat(), "`list` of open tickets must return these alone").toEqual(["a50", "b40", "c30", "d20"]);
  const { page } = await frugal(onePage({ numItems: 3, cursor: null }), "a page must not read more tickets than it returns");
  expect(subjects(page), "`list` without `status` must return the three tickets of the highest priority").toEqual(["a50", "heavy", "heavy"]);
});
