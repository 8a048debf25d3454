/** What is refused because it is too much, and that it costs little to refuse it. */

import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { SyncSocket } from "../clients/test/sync_socket.ts";
import { MAX_QUERIES } from "../request_limits.ts";
import { deploy, eventually, post, type TestApp } from "./harness.ts";

const APP = {
  "convex/m.ts": `import { query } from "./_generated/server";
import { v } from "convex/values";
export const one = query({ args: {}, handler: async () => 1 });
export const echo = query({ args: { x: v.any() }, handler: async (_ctx, { x }) => x });`,
};

// Idle, a refusal takes some milliseconds; others use the machine.
const IN_TIME_MS = 5000;

async function connected(t: TestContext, { backend }: TestApp): Promise<SyncSocket> {
  const socket = await new SyncSocket(backend.url).opened();
  t.after(() => socket.socket.terminate());
  socket.connect();
  return socket;
}

test("queries of one batch", async (t) => {
  const { backend } = await deploy(t, APP);
  const batch = (count: number, path = "m:one"): ReturnType<typeof post> =>
    post(`${backend.url}/api/query_batch`, { queries: Array.from({ length: count }, () => ({ path, args: {} })) });

  await t.test("as many as are allowed", async () => {
    const { status, body } = await batch(MAX_QUERIES, "m:none");
    assert.deepEqual([status, (body["results"] as unknown[]).length], [200, MAX_QUERIES]);
  });

  await t.test("none of more runs", async () => {
    for (const [count, path] of [
      [MAX_QUERIES + 1, "m:one"],
      [100_000, "m:one"],
      [100_000, "m:none"],
    ] as const) {
      const startedMs = performance.now();
      assert.deepEqual(await batch(count, path), {
        status: 400,
        body: {
          code: "TooManyQueries",
          message: `At most 1000 queries run at once, got ${count}: send them in several requests`,
        },
      });
      assert.ok(performance.now() - startedMs < IN_TIME_MS);
    }
  });
});

test("queries of one connection", async (t) => {
  const app = await deploy(t, APP);
  const add = (from: number, count: number): object[] =>
    Array.from({ length: count }, (_, index) => ({
      ...{ type: "Add", queryId: from + index, udfPath: "m:none", args: [{}] },
    }));
  const modify = (baseVersion: number, modifications: object[]): object => ({
    ...{ type: "ModifyQuerySet", baseVersion, newVersion: baseVersion + 1, modifications },
  });
  const types = (socket: SyncSocket): string[] => socket.received.map(({ type }) => type);

  await t.test("too many at once end it", async (inner) => {
    const socket = await connected(inner, app);
    socket.send(modify(0, add(0, MAX_QUERIES + 1)));
    await socket.closed;
    const error = "At most 1000 queries run at once, got 1001: send them in several requests";
    assert.deepEqual(socket.received, [{ type: "FatalError", error }]);
  });

  await t.test("and so do too many one after another, but not those that are gone", async (inner) => {
    const socket = await connected(inner, app);
    socket.send(modify(0, add(0, MAX_QUERIES)));
    await eventually(() => types(socket).length === 1);
    socket.send(modify(1, [{ type: "Remove", queryId: 0 }, ...add(MAX_QUERIES, 1)]));
    await eventually(() => types(socket).length === 2);
    socket.send(modify(2, add(MAX_QUERIES + 1, 1)));
    await socket.closed;
    assert.deepEqual(types(socket), ["Transition", "Transition", "FatalError"]);
  });
});
