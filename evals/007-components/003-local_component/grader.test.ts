import {
  ADMIN_KEY,
  anonymousClient,
  candidateUrl,
  clearTables,
  clientAs,
  expectError,
  expectSameFunctions,
  expectSameSchema,
  listCallable,
  listTable,
  ownFields,
  readSchema,
  type StoredDocument,
} from "convex-evals/grader";
import { convexToJson, jsonToConvex, type JSONValue, type Value } from "convex/values";
import { beforeEach, expect, test } from "vitest";
import { api } from "./answer/convex/_generated/api";
import type { Id } from "./answer/convex/_generated/dataModel";

const visitor = anonymousClient();
const ada = clientAs({ subject: "ada", issuer: "https://diary.example" });
const bob = clientAs({ subject: "bob", issuer: "https://diary.example" });

type Answer = { status: "success"; value: JSONValue } | { status: "error"; errorMessage: string };

/** Calls one of the dashboard's functions for the data of the component instead of the app's. */
async function ofComponent(kind: "query" | "mutation", path: string, args: Record<string, Value>): Promise<Value> {
  const response = await fetch(`${candidateUrl()}/api/${kind}`, {
    method: "POST",
    headers: { "Content-Type": "application/json", Authorization: `Convex ${ADMIN_KEY}` },
    body: JSON.stringify({ path, args: convexToJson(args), format: "convex_encoded_json", componentPath: "auditLog" }),
  });
  const answer = (await response.json()) as Answer;
  if (answer.status === "success") return jsonToConvex(answer.value);
  throw new Error(`The app must have installed a component under the name \`auditLog\`, with a table \`entries\`: ${answer.errorMessage}`);
}

/** What is in the table of the component, oldest first. */
async function logged() {
  const documents = await ofComponent("query", "_system/frontend/listTableScan", { table: "entries", limit: 1000 });
  return (documents as StoredDocument[]).toReversed().map(ownFields);
}

async function diary() {
  return (await listTable("entries")).map(ownFields);
}

beforeEach(async () => {
  await clearTables("entries");
  await ofComponent("mutation", "_system/frontend/clearTablePage", { tableName: "entries", cursor: null });
});

test("the app has its own table and no other", async () => {
  await expectSameSchema({ indexes: "ignored" });
  const tables = (await readSchema())?.map(({ tableName }) => tableName);
  expect(tables, "the app's schema must have the table `entries` alone").toEqual(["entries"]);
});

test("clients can call the functions of the diary and nothing else", async () => {
  await expectSameFunctions();
  expect(await listCallable(), "clients must be able to call these three functions and nothing else").toEqual([
    "diary:history (query)",
    "diary:remove (mutation)",
    "diary:write (mutation)",
  ]);
});

test("what is written is stored in the app and logged in the component", async () => {
  const first = await ada.mutation(api.diary.write, { text: "Dear diary" });
  const second = await bob.mutation(api.diary.write, { text: "Nothing happened" });
  expect(await listTable("entries"), "`write` must store the entry, with the caller as author, and return its id").toEqual([
    { _id: first, _creationTime: expect.any(Number) as unknown, author: "ada", text: "Dear diary" },
    { _id: second, _creationTime: expect.any(Number) as unknown, author: "bob", text: "Nothing happened" },
  ]);
  expect(await logged(), "`write` must store who wrote which entry in the table of the component").toEqual([
    { actor: "ada", action: "write", detail: first },
    { actor: "bob", action: "write", detail: second },
  ]);
});

test("what is removed disappears from the app and is logged in the component", async () => {
  const kept = await ada.mutation(api.diary.write, { text: "keep me" });
  const entryId = await ada.mutation(api.diary.write, { text: "remove me" });
  expect(await ada.mutation(api.diary.remove, { entryId }), "`remove` must return null").toBe(null);
  expect(await diary(), "`remove` must delete the entry and no other").toEqual([{ author: "ada", text: "keep me" }]);
  expect(await logged(), "`remove` must store in the component who removed which entry, and keep what was logged before").toEqual([
    { actor: "ada", action: "write", detail: kept },
    { actor: "ada", action: "write", detail: entryId },
    { actor: "ada", action: "remove", detail: entryId },
  ]);
});

test("what is refused changes neither the app nor the component", async () => {
  const entryId = await ada.mutation(api.diary.write, { text: "mine" });
  const gone = await bob.mutation(api.diary.write, { text: "gone" });
  await bob.mutation(api.diary.remove, { entryId: gone });
  const before = [await diary(), await logged()];
  await expectError(bob.mutation(api.diary.remove, { entryId }), "Removing somebody else's entry must be refused", { by: "code" });
  await expectError(bob.mutation(api.diary.remove, { entryId: gone }), "Removing an entry that does not exist any more must be refused", { by: "code" });
  expect([await diary(), await logged()], "a `remove` that is refused must change nothing and log nothing").toEqual(before);
});

test("callers who are not signed in are refused", async () => {
  const entryId = await ada.mutation(api.diary.write, { text: "mine" });
  const before = [await diary(), await logged()];
  await expectError(visitor.mutation(api.diary.write, { text: "anonymous" }), "`write` without being signed in must be refused");
  await expectError(visitor.mutation(api.diary.remove, { entryId }), "`remove` without being signed in must be refused");
  await expectError(visitor.query(api.diary.history, {}), "`history` without being signed in must be refused");
  expect([await diary(), await logged()], "callers who are not signed in must change nothing").toEqual(before);
});

test("history shows the caller's own actions, newest first", async () => {
  expect(await ada.query(api.diary.history, {}), "`history` of a caller who did nothing must be empty").toEqual([]);
  const first = await ada.mutation(api.diary.write, { text: "one" });
  const others = await bob.mutation(api.diary.write, { text: "two" });
  await ada.mutation(api.diary.remove, { entryId: first });
  expect(await ada.query(api.diary.history, {}), "`history` must show what the caller did, newest first").toEqual([
    { action: "remove", detail: first },
    { action: "write", detail: first },
  ]);
  expect(await bob.query(api.diary.history, {}), "`history` must not show what other users did").toEqual([{ action: "write", detail: others }]);
});

test("history shows the newest ten actions", async () => {
  const ids: Id<"entries">[] = [];
  for (let index = 0; index < 12; index += 1) ids.push(await ada.mutation(api.diary.write, { text: `entry ${index}` }));
  const details = (await ada.query(api.diary.history, {})).map(({ detail }) => detail);
  expect(details, "after twelve actions `history` must show the last ten, newest first").toEqual(ids.toReversed().slice(0, 10));
  for (let index = 0; index < 11; index += 1) await bob.mutation(api.diary.write, { text: `later ${index}` });
  const still = (await ada.query(api.diary.history, {})).map(({ detail }) => detail);
  expect(still, "what others did afterwards must not push the caller's own actions out of `history`").toEqual(details);
});
