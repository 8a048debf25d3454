/** Clients that mean harm, or are broken: after each of them, the others are answered in time. SOAK=1 makes it longer. */

import assert from "node:assert/strict";
import net from "node:net";
import { test } from "node:test";
import { MAX_QUERIES } from "../request_limits.ts";
import type { Backend } from "../server.ts";
import { api, deploy, eventually, MESSAGES, MESSAGES_SCHEMA, SOAK } from "../test/harness.ts";
import { SyncSocket } from "./test/sync_socket.ts";
import { seededRandom } from "../isolate/determinism.ts";

// Idle, it takes some milliseconds; the test and the backend share a process, and others use the machine: what hangs,
// hangs for longer.
const IN_TIME_MS = 20_000;
const MEBIBYTE = 1 << 20;

/** What a well-behaved client sees while or after somebody else misbehaves. */
async function answersInTime(backend: Backend): Promise<void> {
  const body = JSON.stringify({ path: "messages:send", args: { author: "a", body: "b" }, format: "json" });
  const response = await fetch(`${backend.url}/api/mutation`, {
    method: "POST",
    body,
    signal: AbortSignal.timeout(IN_TIME_MS),
  });
  assert.equal(((await response.json()) as { status: string }).status, "success");
  const socket = await new SyncSocket(backend.url).opened();
  socket.connect();
  socket.send({
    type: "ModifyQuerySet",
    baseVersion: 0,
    newVersion: 1,
    modifications: [{ type: "Add", queryId: 1, udfPath: "messages:count", args: [{}] }],
  });
  await eventually(() => socket.received.some((message) => message.type === "Transition"), IN_TIME_MS);
  socket.socket.terminate();
}

const WRONG_VALUES: readonly unknown[] = [
  undefined,
  null,
  true,
  -1,
  0.5,
  1e300,
  2 ** 53,
  "",
  "x",
  "\u0000",
  "\ud800",
  "__proto__",
  "constructor",
  "a".repeat(5000),
  [],
  [null],
  [[]],
  {},
  { a: 1 },
  { $integer: "nonsense" },
  { $bytes: 5 },
  { $float: "AAAA" },
  { $set: [] },
  [{ $integer: "AAAAAAAAAAA=" }],
  JSON.parse('{"__proto__":1}'),
  { toString: 1 },
  ["a", "b"],
  "_system/frontend/listTableScan",
  "messages:list",
];

const GOOD_MESSAGES: readonly Readonly<Record<string, unknown>>[] = [
  {
    type: "Connect",
    sessionId: "s",
    connectionCount: 0,
    lastCloseReason: null,
    maxObservedTimestamp: "AAAAAAAAAAA=",
    clientTs: 0,
  },
  { type: "Authenticate", tokenType: "None", baseVersion: 0 },
  { type: "Authenticate", tokenType: "User", value: "a.b.c", baseVersion: 0 },
  { type: "Authenticate", tokenType: "Admin", value: "key", baseVersion: 0, impersonating: { subject: "s" } },
  {
    type: "ModifyQuerySet",
    baseVersion: 0,
    newVersion: 1,
    modifications: [
      { type: "Add", queryId: 0, udfPath: "messages:count", args: [{}], journal: null, componentPath: "" },
      { type: "Remove", queryId: 0 },
    ],
  },
  { type: "Mutation", requestId: 0, udfPath: "messages:send", args: [{ author: "a", body: "b" }], componentPath: "" },
  { type: "Action", requestId: 1, udfPath: "messages:nothing", args: [{}], componentPath: "" },
  { type: "Event", eventType: "ClientConnect", event: [] },
];

/** The same message with one field, at any depth, set to something else or missing. */
function spoiled(message: unknown, next: () => number): unknown {
  const pick = <T>(values: readonly T[]): T => values[Math.floor(next() * values.length)] as T;
  if (typeof message !== "object" || message === null || next() < 0.1) return pick(WRONG_VALUES);
  if (Array.isArray(message)) {
    const at = Math.floor(next() * message.length);
    return message.map((item, index) => (index === at ? spoiled(item, next) : item));
  }
  const field = pick([...Object.keys(message), "unknownField"]);
  const { [field]: old, ...others } = message as Record<string, unknown>;
  const value = typeof old === "object" && next() < 0.6 ? spoiled(old, next) : pick(WRONG_VALUES);
  return value === undefined ? others : { ...others, [field]: value };
}

test("hostile clients", async (t) => {
  const count =
    'export const count = query({ args: {}, handler: async (ctx) => (await ctx.db.query("counters").collect()).length });';
  const { backend, http } = await deploy(t, {
    "convex/schema.ts": MESSAGES_SCHEMA,
    "convex/messages.ts": `${MESSAGES}\n${count}`,
  });

  for (const seed of [1, 2, 3]) {
    await t.test(`messages with one wrong field, seed ${seed}`, async () => {
      const next = seededRandom(seed);
      const rounds = SOAK ? 5000 : 250;
      for (let round = 0; round < rounds; round += 50) {
        const sockets = await Promise.all(
          Array.from({ length: 50 }, async () => await new SyncSocket(backend.url).opened()),
        );
        for (const { socket } of sockets) {
          const good = GOOD_MESSAGES[Math.floor(next() * GOOD_MESSAGES.length)];
          socket.send(JSON.stringify(spoiled(good, next)) ?? "");
          socket.send(JSON.stringify(GOOD_MESSAGES[4]));
        }
        // Each is disconnected with a reason, or goes on as a client like others.
        await Promise.all(
          sockets.map(
            async ({ received }) =>
              await eventually(() =>
                received.some(({ type }) => ["Transition", "FatalError", "AuthError"].includes(type)),
              ),
          ),
        );
        for (const { socket } of sockets) socket.terminate();
      }
      await answersInTime(backend);
    });
  }

  await t.test("requests with one wrong field", async () => {
    const next = seededRandom(4);
    const good = {
      path: "messages:send",
      args: [{ author: "a", body: "b" }],
      format: "convex_encoded_json",
      componentPath: "",
    };
    for (let round = 0; round < (SOAK ? 5000 : 150); round++) {
      const route = [
        "query",
        "mutation",
        "action",
        "function",
        "run/messages/send",
        "deploy2/start_push",
        "query_at_ts",
      ][Math.floor(next() * 7)];
      const response = await fetch(`${backend.url}/api/${route}`, {
        method: "POST",
        body: JSON.stringify(spoiled(good, next)) ?? "",
      });
      const text = await response.text();
      assert.ok(
        [200, 400, 401, 403, 404, 560].includes(response.status),
        `${route} ${response.status} ${text.slice(0, 300)}`,
      );
    }
    await answersInTime(backend);
  });

  await t.test("frames and arguments of 10 MB", async () => {
    const frames = [
      "x".repeat(10 * MEBIBYTE),
      Buffer.alloc(10 * MEBIBYTE, 0xff),
      `{"type":"Connect","sessionId":"${"s".repeat(10 * MEBIBYTE)}"}`,
      `{"type":"Event","event":${"[".repeat(5 * MEBIBYTE)}${"]".repeat(5 * MEBIBYTE)}}`,
    ];
    for (const frame of frames) {
      const socket = await new SyncSocket(backend.url).opened();
      socket.send(frame);
      await answersInTime(backend);
      socket.socket.terminate();
    }
    const socket = await new SyncSocket(backend.url).opened();
    socket.send({
      type: "Mutation",
      requestId: 0,
      udfPath: "messages:send",
      args: [{ author: "a", body: "b".repeat(10 * MEBIBYTE) }],
    });
    const response = await eventually(() => socket.received.find(({ type }) => type === "MutationResponse"));
    assert.match(String(response["result"]), /too large/);
    socket.socket.terminate();
    await answersInTime(backend);
  });

  await t.test("wrong versions and wrong paths", async () => {
    const paths = [
      "/api/0.0.1/sync",
      "/api/99999999.0.0/sync",
      "/api/%00/sync",
      "/api/../sync",
      "/sync",
      "/api/sync/extra",
      `/api/${"9".repeat(5000)}/sync`,
    ];
    for (const path of paths) {
      const socket = new SyncSocket(backend.url, path);
      await Promise.race([socket.opened().catch(() => {}), socket.closed]);
      socket.socket.terminate();
    }
    const unversioned = new SyncSocket(backend.url, "/api/1.48.0/sync", { protocolVersion: 8 });
    await Promise.race([unversioned.opened().catch(() => {}), unversioned.closed]);
    unversioned.socket.terminate();
    const client = await fetch(`${backend.url}/api/query`, {
      method: "POST",
      headers: { "convex-client": "npm-0.0.1" },
      body: '{"path":"messages:count","args":{}}',
    });
    assert.equal(((await client.json()) as { status: string }).status, "success");
    await answersInTime(backend);
  });

  await t.test("1,000 connections at once", async () => {
    const sockets = Array.from({ length: 1000 }, () => new SyncSocket(backend.url));
    try {
      await Promise.all(sockets.map((socket) => socket.opened()));
      for (const socket of sockets) {
        socket.connect();
        socket.send({
          type: "ModifyQuerySet",
          baseVersion: 0,
          newVersion: 1,
          modifications: [{ type: "Add", queryId: 0, udfPath: "messages:count", args: [{}] }],
        });
      }
      await answersInTime(backend);
      await eventually(() => sockets.every(({ received }) => received.length > 0), 10_000);
    } finally {
      for (const { socket } of sockets) socket.terminate();
    }
    await answersInTime(backend);
  });

  await t.test("many subscriptions on one socket, added and removed in bursts", async () => {
    const amount = MAX_QUERIES;
    const socket = await new SyncSocket(backend.url).opened();
    socket.connect();
    const queries = Array.from({ length: amount }, (_, queryId) => ({
      type: "Add",
      queryId,
      udfPath: "messages:count",
      args: [{}],
    }));
    socket.send({ type: "ModifyQuerySet", baseVersion: 0, newVersion: 1, modifications: queries });
    const updated = (): number =>
      socket.received.flatMap((message) => (message["modifications"] as unknown[] | undefined) ?? []).length;
    await eventually(() => updated() === amount, 30_000);
    await answersInTime(backend);
    socket.send({
      type: "ModifyQuerySet",
      baseVersion: 1,
      newVersion: 2,
      modifications: queries.map(({ queryId }) => ({ type: "Remove", queryId })),
    });
    await eventually(() => updated() === 2 * amount, 30_000);
    for (let version = 2; version < 200; version++) {
      const modification = version % 2 === 0 ? { ...queries[0] } : { type: "Remove", queryId: 0 };
      socket.send({
        type: "ModifyQuerySet",
        baseVersion: version,
        newVersion: version + 1,
        modifications: [modification],
      });
    }
    await eventually(
      () => (socket.received.at(-1)?.["endVersion"] as { querySet?: number } | undefined)?.querySet === 200,
    );
    socket.socket.terminate();
    await answersInTime(backend);
  });

  await t.test("slow clients: a byte now and then, and answers that nobody reads", async () => {
    const trickling = Array.from({ length: 50 }, () => net.connect(backend.port, "127.0.0.1"));
    for (const [index, socket] of trickling.entries()) {
      socket.on("error", () => {});
      socket.write(
        index % 2 === 0
          ? "POST /api/query HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{"
          : "GET /api/1.48.0/sync HT",
      );
    }
    const deaf = await new SyncSocket(backend.url).opened();
    deaf.connect();
    deaf.socket.pause();
    for (let requestId = 0; requestId < 100; requestId++) {
      deaf.send({ type: "Action", requestId, udfPath: "x".repeat(10_000), args: [{}] });
    }
    for (let beat = 0; beat < 3; beat++) {
      for (const socket of trickling) socket.write(" ");
      await answersInTime(backend);
    }
    for (const socket of trickling) socket.destroy();
    deaf.socket.terminate();
    await answersInTime(backend);
  });

  await t.test("nothing of all this is left behind", async () => {
    const openSockets = (): number =>
      process.getActiveResourcesInfo().filter((name) => name === "TCPSocketWrap").length;
    await eventually(() => openSockets() < 50);
    const before = (await http.query(api.messages.list)) as unknown[];
    await http.mutation(api.messages.send, { author: "a", body: "b" });
    assert.equal(((await http.query(api.messages.list)) as unknown[]).length, before.length + 1);
  });
});
