import {
  addDocuments,
  adminClient,
  clearTables,
  expectError,
  expectFunctions,
  expectNotCallable,
  expectSameSchema,
  anonymousClient,
  listCrons,
  listTable,
  ownFields,
} from "convex-evals/grader";
import { beforeEach, expect, test } from "vitest";
import { internal } from "./answer/convex/_generated/api";

const HOUR = 60 * 60 * 1000;
const admin = adminClient();

beforeEach(() => clearTables("tickets", "reports"));

function ticket(subject: string, status: "open" | "closed", ageMs: number) {
  return { subject, status, lastActivity: Date.now() - ageMs };
}

test("the schema has the tables of the task", () => expectSameSchema());

test("both functions are internal mutations", async () => {
  await expectFunctions({
    "maintenance:closeStale": { type: "mutation", visibility: "internal" },
    "maintenance:writeReport": { type: "mutation", visibility: "internal" },
  });
  const visitor = anonymousClient();
  // The server refuses what the types refuse: that is what is tested.
  const closeStale = internal.maintenance.closeStale;
  await expectNotCallable(visitor.mutation(closeStale, { maxAgeMs: 0 }), "Clients must not be able to call `closeStale`");
});

test("closeStale closes the open tickets that are too old, and only those", async () => {
  const tickets = [
    ticket("old and open", "open", 3 * HOUR),
    ticket("young", "open", 1 * HOUR),
    ticket("old and closed", "closed", 3 * HOUR),
    ticket("very old", "open", 300 * HOUR),
  ];
  await addDocuments("tickets", tickets);
  const closed = await admin.mutation(internal.maintenance.closeStale, { maxAgeMs: 2 * HOUR });
  expect(closed, "`closeStale` must return the number of tickets that it closed").toBe(2);
  const expected = tickets.map((before) => (before.subject === "young" ? before : { ...before, status: "closed" }));
  expect(
    (await listTable("tickets")).map(ownFields),
    "after `closeStale` the open tickets older than `maxAgeMs` must be closed, and nothing else may have changed",
  ).toEqual(expected);
  const again = await admin.mutation(internal.maintenance.closeStale, { maxAgeMs: 2 * HOUR });
  expect(again, "a second `closeStale` has nothing left to close").toBe(0);
});

test("writeReport counts the open tickets", async () => {
  await addDocuments("tickets", [ticket("a", "open", 0), ticket("b", "closed", 0), ticket("c", "open", 9 * HOUR)]);
  const returned = await admin.mutation(internal.maintenance.writeReport, { title: "noon" });
  expect(returned, "`writeReport` must return null").toBeNull();
  expect((await listTable("reports")).map(ownFields), "`writeReport` must insert one report").toEqual([{ title: "noon", openTickets: 2 }]);
});

test("more than a thousand tickets are counted and closed in one call", async () => {
  const stale = Array.from({ length: 1100 }, (_, index) => ticket(`stale ${index}`, "open", 9 * HOUR));
  await addDocuments("tickets", stale);
  await admin.mutation(internal.maintenance.writeReport, { title: "busy" });
  const report = { title: "busy", openTickets: 1100 };
  expect((await listTable("reports")).map(ownFields), "`writeReport` must count all of 1100 open tickets").toEqual([report]);
  const closed = await admin.mutation(internal.maintenance.closeStale, { maxAgeMs: HOUR });
  expect(closed, "`closeStale` must close all of 1100 stale tickets in one call").toBe(1100);
  const open = (await listTable("tickets", { limit: 2000 })).filter(({ status }) => status === "open");
  expect(open.length, "after `closeStale` no stale ticket may be open").toBe(0);
});

test("arguments of the wrong type are refused", async () => {
  const wrong = { maxAgeMs: "7 days" } as unknown as { maxAgeMs: number };
  await expectError(admin.mutation(internal.maintenance.closeStale, wrong), "`closeStale` with a string as `maxAgeMs` must be refused", {
    by: "arguments",
  });
});

test("the three jobs are scheduled as described", async () => {
  const crons = await listCrons();
  expect(crons, "there must be exactly the three scheduled jobs, each with its name, schedule, function and arguments").toEqual([
    { name: "close stale tickets", schedule: "every 900 s", function: "maintenance:closeStale", args: [{ maxAgeMs: 604800000 }] },
    { name: "daily report", schedule: "at 30 6 * * *", function: "maintenance:writeReport", args: [{ title: "daily" }] },
    { name: "monthly report", schedule: "at 0 8 1 * *", function: "maintenance:writeReport", args: [{ title: "monthly" }] },
  ]);
});
