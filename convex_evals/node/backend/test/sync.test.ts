import assert from "node:assert/strict";
import { test } from "node:test";
import { WebSocket } from "ws";
import { ADMIN_KEY } from "../versions.ts";
import { api, deploy, errorOf, eventually, MESSAGES, MESSAGES_SCHEMA } from "./harness.ts";

const COUNTERS = `
import { query, mutation, action } from "./_generated/server";
import { api } from "./_generated/api";
import { v } from "convex/values";
export const get = query({ args: { name: v.string() }, handler: async (ctx, { name }) => {
  return (await ctx.db.query("counters").filter((q) => q.eq(q.field("name"), name)).first())?.value ?? 0;
} });
export const bump = mutation({ args: { name: v.string() }, handler: async (ctx, { name }) => {
  const counter = await ctx.db.query("counters").filter((q) => q.eq(q.field("name"), name)).first();
  if (!counter) { await ctx.db.insert("counters", { name, value: 1 }); return 1; }
  await ctx.db.patch(counter._id, { value: counter.value + 1 });
  return counter.value + 1;
} });
export const runs = { count: 0 };
export const counted = query({ args: {}, handler: async (ctx) => { console.log("ran"); await ctx.db.query("messages").collect(); return null; } });
export const whoami = query({ args: {}, handler: async (ctx) => (await ctx.auth.getUserIdentity())?.subject ?? null });
export const fail = mutation({ args: {}, handler: async () => { throw new Error("no"); } });
export const act = action({ args: {}, handler: async (ctx): Promise<number> => await ctx.runMutation(api.counters.bump, { name: "action" }) });
export const page = query({ args: { paginationOpts: v.any() }, handler: async (ctx, args) => await ctx.db.query("messages").paginate(args.paginationOpts) });
export const pagesInside = query({ args: {}, handler: async (ctx): Promise<any> => {
  const inside = async (numItems: number) => (await ctx.runQuery(api.counters.page, { paginationOpts: { numItems, cursor: null } })).page.map(({ body }: any) => body);
  const before = await inside(1);
  const own = (await ctx.db.query("messages").paginate({ numItems: 2, cursor: null })).page.map(({ body }: any) => body);
  return [before, own, await inside(3)];
} });
`;
const FILES = { "convex/schema.ts": MESSAGES_SCHEMA, "convex/messages.ts": MESSAGES, "convex/counters.ts": COUNTERS };
const counters = api.counters!;

test("sync protocol", async (t) => {
  const ran: string[] = [];
  const app = await deploy(t, FILES, { onLog: (line) => ran.push(line) });

  await t.test("a subscription sees every committed state in order, and the last one", async () => {
    const watcher = app.connect();
    const seen: number[] = [];
    watcher.onUpdate(counters.get, { name: "order" }, (value) => seen.push(value as number));
    const writer = app.connect();
    const results = await Promise.all(
      Array.from({ length: 50 }, () => writer.mutation(counters.bump, { name: "order" })),
    );
    assert.deepEqual(
      results,
      Array.from({ length: 50 }, (_, index) => index + 1),
    );
    await eventually(() => seen.at(-1) === 50);
    assert.deepEqual(
      seen,
      [...seen].sort((a, b) => a - b),
    );
  });

  await t.test("what one client was told, every other client sees", async () => {
    const writer = app.connect();
    const reader = app.connect();
    for (let round = 1; round <= 200; round++) {
      await writer.mutation(counters.bump, { name: "stale" });
      assert.equal(await app.http.query(counters.get, { name: "stale" }), round);
      assert.equal(await reader.query(counters.get, { name: "stale" }), round);
    }
  });

  await t.test("a commit runs only the subscriptions that read what it wrote", async () => {
    const watcher = app.connect();
    let updates = 0;
    watcher.onUpdate(counters.counted, {}, () => updates++);
    await eventually(() => updates === 1);
    ran.length = 0;
    for (let round = 0; round < 20; round++) await app.http.mutation(counters.bump, { name: "other" });
    assert.deepEqual(ran, []);
    await app.http.mutation(api.messages!.send, { author: "a", body: "b" });
    await eventually(() => ran.length === 1);
  });

  await t.test("failures and actions", async () => {
    const client = app.connect();
    assert.match((await errorOf(() => client.mutation(counters.fail, {}))).message, /Server Error\nUncaught Error: no/);
    assert.equal(await client.action(counters.act, {}), 1);
    assert.match(
      (await errorOf(() => client.query(api.nope!.nope, {}))).message,
      /Could not find public function for 'nope:nope'/,
    );
  });

  await t.test("admin authentication with an identity re-runs the queries", async () => {
    const client = app.connect();
    const seen: unknown[] = [];
    client.onUpdate(counters.whoami, {}, (value) => seen.push(value));
    await eventually(() => seen.length === 1);
    const raw = client.client as unknown as { setAdminAuth(key: string, identity: object): void };
    raw.setAdminAuth(ADMIN_KEY, { subject: "ada", issuer: "https://id" });
    await eventually(() => seen.at(-1) === "ada");
    assert.deepEqual(seen, [null, "ada"]);
  });

  await t.test("a redeploy re-runs the queries and keeps the data", async () => {
    const client = app.connect();
    const seen: unknown[] = [];
    client.onUpdate(counters.get, { name: "order" }, (value) => seen.push(value));
    await eventually(() => seen.at(-1) === 50);
    const changed = COUNTERS.replace(
      'q.eq(q.field("name"), name)).first())?.value ?? 0',
      'q.eq(q.field("name"), name)).first())?.value! * 100',
    );
    assert.equal((await app.redeploy({ ...FILES, "convex/counters.ts": changed })).status, 200);
    await eventually(() => seen.at(-1) === 5000);
  });

  await t.test("a page of a paginated query keeps its end while documents come in", async () => {
    const client = app.connect();
    const pages: { page: unknown[]; continueCursor: string }[] = [];
    for (let index = 0; index < 3; index++) {
      await app.http.mutation(api.messages!.send, { author: "p", body: String(index) });
    }
    client.onUpdate(counters.page, { paginationOpts: { numItems: 2, cursor: null } }, (value) =>
      pages.push(value as never),
    );
    const first = await eventually(() => pages.at(-1));
    const { _id } = first.page[0] as { _id: string };
    await app.admin.mutation(
      "_system/frontend/deleteDocuments" as never,
      { toDelete: [{ id: _id, tableName: "messages" }] } as never,
    );
    const second = await eventually(() => (pages.length > 1 ? pages.at(-1) : null));
    assert.equal(second.page.length, 1);
    assert.equal(second.continueCursor, first.continueCursor);
  });
});

test("a query keeps the end of its own page, and those that it calls begin anew", async (t) => {
  const app = await deploy(t, FILES);
  for (const body of ["0", "1", "2", "3"]) await app.http.mutation(api.messages!.send, { author: "p", body });
  const seen: unknown[] = [];
  app.connect().onUpdate(counters.pagesInside, {}, (value) => seen.push(value));
  await eventually(() => seen.length === 1);
  const [{ _id }] = (await app.http.query(counters.page, { paginationOpts: { numItems: 1, cursor: null } })).page;
  const toDelete = [{ id: _id, tableName: "messages" }];
  await app.admin.mutation("_system/frontend/deleteDocuments" as never, { toDelete } as never);
  await eventually(() => seen.length === 2);
  assert.deepEqual(seen, [
    [["0"], ["0", "1"], ["0", "1", "2"]],
    [["1"], ["1"], ["1", "2", "3"]],
  ]);
});

async function closed(socket: WebSocket): Promise<string[]> {
  const received: string[] = [];
  socket.on("message", (data) => received.push(String(data)));
  socket.on("error", () => {});
  await new Promise((resolve) => socket.once("close", resolve));
  return received;
}

test("clients that break the protocol are disconnected, and nobody else is", async (t) => {
  const app = await deploy(t, FILES);
  const url = app.backend.url.replace("http", "ws");
  const frames = [
    "not json",
    "[]",
    "null",
    '{"type":"Nonsense"}',
    '{"type":"ModifyQuerySet","baseVersion":7,"newVersion":8,"modifications":[]}',
    '{"type":"ModifyQuerySet","baseVersion":0,"newVersion":1,"modifications":[{"type":"Add"}]}',
    '{"type":"Mutation","requestId":-1,"udfPath":"a","args":[]}',
    '{"type":"Authenticate","tokenType":"Magic","baseVersion":0}',
    `{"type":"Connect","sessionId":${"[".repeat(100_000)}`,
    Buffer.from([0xff, 0xfe, 0x00, 0x80]),
  ];
  for (const frame of frames) {
    const socket = new WebSocket(`${url}/api/1.48.0/sync`);
    socket.once("open", () => socket.send(frame));
    const received = await closed(socket);
    assert.match(received.at(-1) ?? "", /FatalError/, String(frame).slice(0, 80));
  }
  const huge = new WebSocket(`${url}/api/1.48.0/sync`);
  huge.once("open", () => huge.send("x".repeat(40 << 20)));
  await closed(huge);
  await closed(new WebSocket(`${url}/elsewhere`));
  const badKey = new WebSocket(`${url}/api/sync`);
  const answer = new Promise<string>((resolve) => badKey.once("message", (data) => resolve(String(data))));
  badKey.once("open", () => badKey.send('{"type":"Authenticate","tokenType":"Admin","value":"x","baseVersion":0}'));
  assert.match(await answer, /"type":"AuthError","error":"The provided admin key was invalid/);
  badKey.terminate();
  assert.equal(await app.connect().mutation(counters.bump, { name: "alive" }), 1);
});

test("a mutation that is sent twice runs once", async (t) => {
  const app = await deploy(t, FILES);
  const send = async (): Promise<unknown> => {
    const socket = new WebSocket(`${app.backend.url.replace("http", "ws")}/api/1.48.0/sync`);
    await new Promise((resolve) => socket.once("open", resolve));
    socket.send('{"type":"Connect","sessionId":"one","connectionCount":0,"lastCloseReason":null}');
    socket.send('{"type":"Mutation","requestId":0,"udfPath":"counters:bump","args":[{"name":"twice"}]}');
    const response = await new Promise<string>((resolve) =>
      socket.on("message", (data) => String(data).includes("MutationResponse") && resolve(String(data))),
    );
    socket.terminate();
    return JSON.parse(response) as unknown;
  };
  assert.deepEqual(await send(), await send());
  assert.equal(await app.http.query(counters.get, { name: "twice" }), 1);
});
