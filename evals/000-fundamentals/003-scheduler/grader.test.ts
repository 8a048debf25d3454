import { anonymousClient, eventually, expectError, expectFunctions, listCallable, listTable, type StoredDocument } from "convex-evals/grader";
import { beforeEach, expect, test } from "vitest";
import { api } from "./answer/convex/_generated/api";
import type { Id } from "./answer/convex/_generated/dataModel";

const HOUR = 60 * 60 * 1000;
/** Convex counts a delay from the time of the mutation, which may be a little before or after what it says itself. */
const TOLERANCE_MS = 5000;

const visitor = anonymousClient();
/** The scheduled functions of earlier tests. */
let earlier = new Set<string>();
/** Longest wait for what the scheduler does; where it was in vain once, it is short from then on. */
let patienceMs = 2000;

beforeEach(async () => {
  earlier = new Set((await listTable("_scheduled_functions")).map(({ _id }) => _id));
});

/** Waits for what the scheduler does. */
async function inTime<T>(check: () => T | Promise<T>, what: string, limitMs = patienceMs): Promise<Exclude<T, false | null>> {
  try {
    return await eventually(check, { what, timeoutMs: limitMs });
  } catch (error) {
    patienceMs = 200;
    throw error;
  }
}

/** The times of the functions that wait since this test has begun, in order. */
async function pendingTimes(): Promise<number[]> {
  return (await listTable("_scheduled_functions"))
    .filter(({ _id, state }) => !earlier.has(_id) && (state as { kind: string }).kind === "pending")
    .map(({ scheduledTime }) => scheduledTime as number)
    .sort((a, b) => a - b);
}

/** Asserts that functions are pending at these times, and no others. */
async function expectPending(times: number[], when: string): Promise<void> {
  const pending = await pendingTimes();
  expect(pending.length, `${when} the number of pending scheduled functions must be ${times.length}`).toBe(times.length);
  for (const [index, time] of times.toSorted((a, b) => a - b).entries()) {
    const off = Math.abs((pending[index] ?? NaN) - time);
    expect(off, `${when} the pending functions must be scheduled at the reminders' \`dueAt\`; one is off by ${off} ms`).toBeLessThan(TOLERANCE_MS);
  }
}

/** As `expectPending`, a moment after a delivery: its function may need that to end. */
function expectPendingSoon(times: number[], when: string): Promise<void> {
  return inTime(async () => expectPending(times, when), "the end of the delivery", Math.min(patienceMs, 500));
}

async function reminder(reminderId: string): Promise<StoredDocument> {
  const found = (await listTable("reminders")).find(({ _id }) => _id === reminderId);
  if (found === undefined) throw new Error("The reminder whose id `create` returned must be in the table `reminders`");
  return found;
}

/** Waits until a reminder is sent; fails at once for one that was sent too early. */
async function delivered(reminderId: string, dueAt: number): Promise<StoredDocument> {
  const sent = await inTime(async () => {
    const found = await reminder(reminderId);
    return found["status"] === "sent" && found;
  }, "the delivery of a reminder that is due");
  expect(sent["sentAt"], "`sentAt` must be the time of the delivery, in milliseconds since 1970").toBeTypeOf("number");
  // A timer may be a moment early.
  expect(sent["sentAt"], "a reminder must not be sent before its `dueAt`").toBeGreaterThan(dueAt - 50);
  expect(sent["sentAt"], "`sentAt` must be the time of the delivery, in milliseconds since 1970").toBeLessThanOrEqual(Date.now() + TOLERANCE_MS);
  return sent;
}

test("the four functions are public mutations, and clients can change nothing by others", async () => {
  const publicMutation = { type: "mutation", visibility: "public" } as const;
  await expectFunctions({
    "reminders:create": publicMutation,
    "reminders:createAll": publicMutation,
    "reminders:postpone": publicMutation,
    "reminders:cancel": publicMutation,
  });
  const changing = (await listCallable()).filter((callable) => !callable.endsWith(" (query)"));
  expect(changing, "clients must be able to call no mutations and actions but the four of the task, over HTTP neither").toEqual([
    "reminders:cancel (mutation)",
    "reminders:create (mutation)",
    "reminders:createAll (mutation)",
    "reminders:postpone (mutation)",
  ]);
});

test("create stores a reminder that waits for its time", async () => {
  const dueAt = Date.now() + HOUR;
  const reminderId = await visitor.mutation(api.reminders.create, { text: "Call Ada", dueAt });
  const stored = await reminder(reminderId);
  expect(stored, "`create` must store a waiting reminder with its text and its `dueAt`").toMatchObject({ text: "Call Ada", dueAt, status: "waiting" });
  expect(stored["sentAt"], "a waiting reminder must have no `sentAt`").toBeUndefined();
  await expectPending([dueAt], "after `create`");
});

test("a reminder is delivered at its time", async () => {
  const dueAt = Date.now() + 150;
  const later = Date.now() + HOUR;
  const laterId = await visitor.mutation(api.reminders.create, { text: "Later", dueAt: later });
  const reminderId = await visitor.mutation(api.reminders.create, { text: "Tea is ready", dueAt });
  const sent = await delivered(reminderId, dueAt);
  expect(sent, "the delivery must leave the text and the `dueAt` as they are").toMatchObject({ text: "Tea is ready", dueAt });
  expect(await reminder(laterId), "the delivery of one reminder must leave the others alone").toMatchObject({ status: "waiting" });
  await expectPendingSoon([later], "after a delivery");
});

test("a reminder whose time is past is delivered at once", async () => {
  const dueAt = Date.now() - 10_000;
  const reminderId = await visitor.mutation(api.reminders.create, { text: "Too late", dueAt });
  const sent = await delivered(reminderId, dueAt);
  expect(sent["dueAt"], "`dueAt` must stay as it was given, also when it is past").toBe(dueAt);
});

test("an empty text is refused, and nothing is stored", async () => {
  const before = await listTable("reminders");
  const dueAt = Date.now() + HOUR;
  await expectError(visitor.mutation(api.reminders.create, { text: "", dueAt }), "`create` with an empty text must be refused", { by: "code" });
  expect(await listTable("reminders"), "a `create` that is refused must store nothing").toEqual(before);
  await expectPending([], "after a `create` that is refused");
});

test("createAll stores and schedules all reminders", async () => {
  const soon = Date.now() + 100;
  const [one, two] = [Date.now() + 2 * HOUR, Date.now() + HOUR];
  const reminders = [
    { text: "One", dueAt: one },
    { text: "Two", dueAt: two },
    { text: "Three", dueAt: soon },
  ];
  const ids = await visitor.mutation(api.reminders.createAll, { reminders });
  expect(ids, "`createAll` must return the id of each reminder").toHaveLength(3);
  const stored = await Promise.all(ids.map(reminder));
  expect(stored.map(({ text, dueAt }) => ({ text, dueAt })), "`createAll` must return the ids in the order of its argument").toEqual(reminders);
  await delivered(ids[2] ?? "", soon);
  await expectPendingSoon([one, two], "after `createAll`");
  expect(await visitor.mutation(api.reminders.createAll, { reminders: [] }), "`createAll` of an empty array must return an empty array").toEqual([]);
});

test("createAll stores and schedules nothing if one text is empty", async () => {
  const before = await listTable("reminders");
  const dueAt = Date.now() + HOUR;
  const reminders = ["First", "Second", "", "Fourth"].map((text) => ({ text, dueAt }));
  await expectError(visitor.mutation(api.reminders.createAll, { reminders }), "`createAll` with an empty text must be refused", { by: "code" });
  expect(await listTable("reminders"), "a `createAll` that is refused must store none of its reminders").toEqual(before);
  await expectPending([], "after a `createAll` that is refused");
});

test("postpone moves the delivery", async () => {
  const reminderId = await visitor.mutation(api.reminders.create, { text: "Later", dueAt: Date.now() + HOUR });
  const dueAt = Date.now() + 5 * HOUR;
  expect(await visitor.mutation(api.reminders.postpone, { reminderId, dueAt }), "`postpone` of a waiting reminder must return true").toBe(true);
  expect(await reminder(reminderId), "`postpone` must change the `dueAt`, and nothing else").toMatchObject({ text: "Later", dueAt, status: "waiting" });
  await expectPending([dueAt], "after `postpone`");
  const twice = Date.now() + 9 * HOUR;
  await visitor.mutation(api.reminders.postpone, { reminderId, dueAt: twice });
  await expectPending([twice], "after a second `postpone`");
});

test("postpone to an earlier time delivers the reminder then", async () => {
  const reminderId = await visitor.mutation(api.reminders.create, { text: "Sooner", dueAt: Date.now() + HOUR });
  const dueAt = Date.now() + 100;
  await visitor.mutation(api.reminders.postpone, { reminderId, dueAt });
  const sent = await delivered(reminderId, dueAt);
  expect(sent["dueAt"], "`postpone` must change the `dueAt`").toBe(dueAt);
  await expectPendingSoon([], "after the delivery of a reminder that was moved");
});

test("simultaneous calls of postpone leave one delivery", async () => {
  const reminderId = await visitor.mutation(api.reminders.create, { text: "Often moved", dueAt: Date.now() + HOUR });
  const times = [2, 3, 4, 5, 6].map((hours) => Date.now() + hours * HOUR);
  await Promise.all(times.map((dueAt) => visitor.mutation(api.reminders.postpone, { reminderId, dueAt })));
  await expectPending([(await reminder(reminderId))["dueAt"] as number], "after five simultaneous calls of `postpone`");
});

test("cancel stops the delivery", async () => {
  const dueAt = Date.now() + HOUR;
  const reminderId = await visitor.mutation(api.reminders.create, { text: "Never", dueAt });
  expect(await visitor.mutation(api.reminders.cancel, { reminderId }), "`cancel` of a waiting reminder must return true").toBe(true);
  const cancelled = await reminder(reminderId);
  expect(cancelled, "`cancel` must set the status to \"cancelled\", and change nothing else").toMatchObject({ text: "Never", dueAt, status: "cancelled" });
  await expectPending([], "after `cancel`");
  expect(await visitor.mutation(api.reminders.cancel, { reminderId }), "`cancel` of a cancelled reminder must return false").toBe(false);
  const late = visitor.mutation(api.reminders.postpone, { reminderId, dueAt: dueAt + HOUR });
  expect(await late, "`postpone` of a cancelled reminder must return false").toBe(false);
  expect(await reminder(reminderId), "`postpone` and `cancel` of a cancelled reminder must change nothing").toEqual(cancelled);
  await expectPending([], "after `postpone` of a cancelled reminder");
});

test("a reminder that was postponed can be cancelled", async () => {
  const reminderId = await visitor.mutation(api.reminders.create, { text: "Never", dueAt: Date.now() + HOUR });
  await visitor.mutation(api.reminders.postpone, { reminderId, dueAt: Date.now() + 2 * HOUR });
  expect(await visitor.mutation(api.reminders.cancel, { reminderId }), "`cancel` of a postponed reminder must return true").toBe(true);
  await expectPending([], "after `cancel` of a postponed reminder");
});

test("a reminder that was sent is neither cancelled nor postponed", async () => {
  const dueAt = Date.now() - 1000;
  const reminderId: Id<"reminders"> = await visitor.mutation(api.reminders.create, { text: "Done", dueAt });
  await delivered(reminderId, dueAt);
  await expectPendingSoon([], "after a delivery");
  const sent = await reminder(reminderId);
  expect(await visitor.mutation(api.reminders.cancel, { reminderId }), "`cancel` of a sent reminder must return false").toBe(false);
  const moved = await visitor.mutation(api.reminders.postpone, { reminderId, dueAt: Date.now() + HOUR });
  expect(moved, "`postpone` of a sent reminder must return false").toBe(false);
  expect(await reminder(reminderId), "`postpone` and `cancel` of a sent reminder must change nothing").toEqual(sent);
  await expectPending([], "after `postpone` of a sent reminder");
});
