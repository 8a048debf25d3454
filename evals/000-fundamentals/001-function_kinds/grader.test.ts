import {
  addDocuments,
  adminClient,
  anonymousClient,
  clearTables,
  expectError,
  expectFunctions,
  expectNotCallable,
  expectSameFunctions,
  expectSameSchema,
  listTable,
  ownFields,
} from "convex-evals/grader";
import { beforeEach, expect, test } from "vitest";
import { api, internal } from "./answer/convex/_generated/api";
import type { Id } from "./answer/convex/_generated/dataModel";

const visitor = anonymousClient();
const admin = adminClient();

beforeEach(() => clearTables("requests"));

/** Arguments that the types refuse: the server must refuse them too. */
function wrong<T>(args: Record<string, unknown>): T {
  return args as T;
}

/** A request that was in the table once: its id is of the right type, and names nothing. */
async function removedRequest(): Promise<Id<"requests">> {
  await addDocuments("requests", [{ song: "Gone", status: "waiting" }]);
  const [request] = await listTable("requests");
  await clearTables("requests");
  return request?._id as Id<"requests">;
}

test("the table accepts the documents of the task", () => expectSameSchema({ indexes: "ignored" }));

test("each function has the kind and the callers that the task names", () =>
  expectFunctions({
    "requests:count": { type: "query", visibility: "public" },
    "requests:add": { type: "mutation", visibility: "public" },
    "requests:jingle": { type: "action", visibility: "public" },
    "studio:next": { type: "query", visibility: "internal" },
    "studio:setStatus": { type: "mutation", visibility: "internal" },
    "studio:tweet": { type: "action", visibility: "internal" },
  }));

test("each function declares the arguments of the task", () => expectSameFunctions({ publicOnly: false, args: "declared" }));

test("each function declares the result of the task", () => expectSameFunctions({ publicOnly: false, args: false, returns: true }));

test("clients cannot call the studio's functions", async () => {
  const requestId = await removedRequest();
  await expectNotCallable(visitor.query(internal.studio.next, {}), "Clients must not be able to call `next`");
  await expectNotCallable(visitor.mutation(internal.studio.setStatus, { requestId, status: "played" }), "Clients must not be able to call `setStatus`");
  await expectNotCallable(visitor.action(internal.studio.tweet, { song: "Waterloo" }), "Clients must not be able to call `tweet`");
});

test("add inserts a request that is waiting, and returns its id", async () => {
  const first = await visitor.mutation(api.requests.add, { song: "Waterloo", listener: "Ada" });
  const second = await visitor.mutation(api.requests.add, { song: "Help!" });
  const stored = await listTable("requests");
  expect(stored.map(ownFields), "`add` must insert one request that is waiting for each call, without `listener` if that is left out").toEqual([
    { song: "Waterloo", listener: "Ada", status: "waiting" },
    { song: "Help!", status: "waiting" },
  ]);
  expect([first, second] as string[], "`add` must return the id of the request that it inserted").toEqual(stored.map(({ _id }) => _id));
});

test("count returns how many requests are waiting", async () => {
  expect(await visitor.query(api.requests.count, {}), "`count` must return 0 when there are no requests").toBe(0);
  await addDocuments("requests", ["waiting", "played", "waiting", "playing"].map((status) => ({ song: "Yesterday", status })));
  expect(await visitor.query(api.requests.count, {}), "`count` must return the number of waiting requests, here 2 of 4").toBe(2);
});

test("jingle joins the words", async () => {
  const calm = await visitor.action(api.requests.jingle, { words: ["Good", "morning", "Oslo"], style: "calm" });
  expect(calm, "`jingle` in the style \"calm\" must leave the words as they are").toEqual({ text: "Good morning Oslo", length: 3 });
  const loud = await visitor.action(api.requests.jingle, { words: ["Good", "morning"], style: "loud" });
  expect(loud, "`jingle` in the style \"loud\" must return upper case").toEqual({ text: "GOOD MORNING", length: 2 });
  const empty = await visitor.action(api.requests.jingle, { words: [], style: "loud" });
  expect(empty, "`jingle` without words must return an empty text").toEqual({ text: "", length: 0 });
});

test("next returns the oldest waiting request", async () => {
  expect(await admin.query(internal.studio.next, {}), "`next` must return null when no request is waiting").toBeNull();
  await addDocuments("requests", [
    { song: "One", status: "played" },
    { song: "Two", listener: "Ada", status: "waiting" },
    { song: "Three", status: "waiting" },
  ]);
  const [, second] = await listTable("requests");
  expect(await admin.query(internal.studio.next, {}), "`next` must return the whole document of the waiting request that was added first").toEqual(second);
});

test("setStatus changes the status, and says whether there was a request", async () => {
  const gone = await removedRequest();
  await addDocuments("requests", [{ song: "One", listener: "Ada", status: "waiting" }, { song: "Two", status: "waiting" }]);
  const [first] = await listTable("requests");
  const requestId = first?._id as Id<"requests">;
  const changed = await admin.mutation(internal.studio.setStatus, { requestId, status: "playing" });
  expect(changed, "`setStatus` must return true when it has set the status").toBe(true);
  const expected = [
    { song: "One", listener: "Ada", status: "playing" },
    { song: "Two", status: "waiting" },
  ];
  expect((await listTable("requests")).map(ownFields), "`setStatus` must change the status of its request, and nothing else").toEqual(expected);
  const missing = await admin.mutation(internal.studio.setStatus, { requestId: gone, status: "playing" });
  expect(missing, "`setStatus` must return false when there is no such request").toBe(false);
  expect((await listTable("requests")).map(ownFields), "`setStatus` without a request must change nothing").toEqual(expected);
});

test("tweet returns null", async () => {
  expect(await admin.action(internal.studio.tweet, { song: "Waterloo", listener: "Ada" }), "`tweet` must return null").toBeNull();
  expect(await admin.action(internal.studio.tweet, { song: "Waterloo" }), "`tweet` without a `listener` must return null").toBeNull();
});

test("Convex refuses other arguments", async () => {
  const refused = { by: "arguments" } as const;
  await expectError(visitor.query(api.requests.count, wrong({ status: "played" })), "`count` with an argument that is not listed must be refused", refused);
  await expectError(visitor.mutation(api.requests.add, wrong({ listener: "Ada" })), "`add` without `song` must be refused", refused);
  await expectError(visitor.mutation(api.requests.add, wrong({ song: "Help!", listener: null })), "`add` with null as `listener` must be refused", refused);
  await expectError(visitor.action(api.requests.jingle, wrong({ words: ["Hi"], style: "sad" })), "`jingle` in another style must be refused", refused);
  await expectError(visitor.action(api.requests.jingle, wrong({ words: "Hi", style: "calm" })), "`jingle` with a string as `words` must be refused", refused);
  const status = wrong<{ requestId: Id<"requests">; status: "played" }>({ requestId: "first", status: "played" });
  await expectError(admin.mutation(internal.studio.setStatus, status), "`setStatus` with something that is no id must be refused", refused);
  await expectError(admin.action(internal.studio.tweet, wrong({ song: 7 })), "`tweet` with a number as `song` must be refused", refused);
  expect(await listTable("requests"), "a refused call must leave nothing behind").toEqual([]);
});
