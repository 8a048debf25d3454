/** What is refused because it is too much, and that it costs little to refuse it. */

import assert from "node:assert/strict";
import http from "node:http";
import { test, type TestContext } from "node:test";
import { gzipSync } from "node:zlib";
import { SyncSocket } from "../clients/test/sync_socket.ts";
import { parseJson } from "../json_text.ts";
import { MAX_CALL_BYTES, MAX_HTTP_ACTION_BYTES, MAX_QUERIES } from "../request_limits.ts";
import { deploy, eventually, post, type TestApp } from "./harness.ts";

const APP = {
  "convex/m.ts": `import { query } from "./_generated/server";
import { v } from "convex/values";
export const one = query({ args: {}, handler: async () => 1 });
export const echo = query({ args: { x: v.any() }, handler: async (_ctx, { x }) => x });
export const length = query({ args: { text: v.string() }, handler: async (_ctx, { text }) => text.length });`,
  "convex/http.ts": `import { httpRouter } from "convex/server";
import { httpAction } from "./_generated/server";
const http = httpRouter();
http.route({ path: "/length", method: "POST", handler: httpAction(async (_ctx, request) => {
  try {
    return new Response(String((await request.bytes()).length));
  } catch (error) {
    return new Response(error.message, { status: 400 });
  }
}) });
export default http;`,
};

// Idle, a refusal takes some milliseconds; others use the machine.
const IN_TIME_MS = 20_000;

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

const lists = (levels: number, inside = ""): string => "[".repeat(levels) + inside + "]".repeat(levels);

test("levels of JSON", async (t) => {
  await t.test("brackets in texts are none", () => {
    const texts = ["[", '"[', "\\[", '\\"['].map((text) => JSON.stringify(text.repeat(200)));
    for (const text of texts) assert.deepEqual(parseJson(`[${text}]`), [JSON.parse(text)]);
  });

  await t.test("those that are closed do not count", () => {
    assert.equal((parseJson(`[${Array(500).fill('[{"a":[]}]').join()}]`) as unknown[]).length, 500);
  });

  await t.test("objects and lists count alike", () => {
    const nested = (levels: number): string => '[{"a":'.repeat(levels / 2) + "1" + "}]".repeat(levels / 2);
    assert.ok(parseJson(`[${nested(126)}]`));
    for (const text of [lists(128), nested(128), lists(127, '"\\\\",[]'), lists(1_000_000)]) {
      assert.throws(() => parseJson(text), /^SyntaxError: it is nested more than 127 levels deep$/);
    }
  });

  await t.test("what is no JSON is not parsed, whatever its brackets are", () => {
    for (const text of ["", "]".repeat(500) + lists(500), '"', '"\\', lists(3) + "]", '["\\"]']) {
      assert.throws(() => parseJson(text), SyntaxError);
    }
  });

  await t.test("a text of many megabytes takes no time to speak of", () => {
    const startedMs = performance.now();
    assert.throws(() => parseJson("[".repeat(1 << 22)), SyntaxError);
    assert.throws(() => parseJson("],".repeat(1 << 22)), SyntaxError);
    assert.ok(parseJson(`"${'\\"'.repeat(1 << 22)}"`));
    assert.ok(parseJson(`"${"\\".repeat(1 << 22)}"`));
    assert.ok(parseJson(`[${"0,".repeat(1 << 22)}0]`));
    assert.ok(performance.now() - startedMs < IN_TIME_MS);
  });
});

test("levels of requests", async (t) => {
  const app = await deploy(t, APP);
  const { url } = app.backend;
  const ask = async (args: string): Promise<[number, any]> => {
    const response = await fetch(`${url}/api/query`, { method: "POST", body: `{"path":"m:echo","args":${args}}` });
    return [response.status, await response.json()];
  };
  const tooDeep = (text: string): string => `${text}it is nested more than 127 levels deep`;

  await t.test("arguments", async () => {
    const [status, { value }] = await ask(`{"x":${lists(62)}}`);
    assert.deepEqual([status, JSON.stringify(value)], [200, lists(62)]);
    for (const levels of [63, 120]) {
      const [, { errorMessage }] = await ask(`{"x":${lists(levels)}}`);
      const message = "Value is too nested (nested 65 levels deep > maximum nesting 64)";
      assert.ok(String(errorMessage).includes(`Invalid arguments for m.js:echo: ${message}`), String(errorMessage));
    }
  });

  await t.test("the whole JSON, wherever it is", async () => {
    const refused = { code: "BadJsonBody", message: tooDeep("Failed to parse the request body as JSON: ") };
    for (const levels of [126, 5_000_000]) assert.deepEqual(await ask(`{"x":${lists(levels)}}`), [400, refused]);
    const byUrl = await fetch(`${url}/api/query?path=m:echo&args=${encodeURIComponent(`{"x":${lists(127)}}`)}`);
    const message = "Failed to deserialize the JSON body into the target type: `args` must be JSON";
    assert.deepEqual([byUrl.status, await byUrl.json()], [400, { ...refused, message }]);
    const socket = await connected(t, app);
    socket.send(`{"type":"Event","event":${lists(127)}}`);
    await socket.closed;
    assert.deepEqual(socket.received, [{ type: "FatalError", error: tooDeep("The message is not JSON: ") }]);
  });
});

test("sizes of requests", async (t) => {
  const { backend } = await deploy(t, APP);
  const tooLarge = (mib: number): object => ({
    ...{ code: "BodyTooLarge", message: `The request body is too large (limit: ${mib} MiB)` },
  });
  const call = JSON.stringify({ path: "m:length", args: { text: "x".repeat(MAX_CALL_BYTES) } });

  await t.test("calls of functions, as they are, compressed, and of a size that is not announced", async () => {
    const url = `${backend.url}/api/query`;
    assert.deepEqual(await answerTo(url, call), [413, tooLarge(32)]);
    assert.deepEqual(await answerTo(url, gzipSync(call), { "content-encoding": "gzip" }), [413, tooLarge(32)]);
    assert.deepEqual(await answerTo(url, call, { "transfer-encoding": "chunked" }), [413, tooLarge(32)]);
  });

  await t.test("HTTP actions", async () => {
    const url = `${backend.siteUrl}/length`;
    const body = Buffer.alloc(MAX_HTTP_ACTION_BYTES + 1);
    const allowed = body.subarray(1);
    const chunked = { "transfer-encoding": "chunked" };
    assert.deepEqual(await answerTo(url, allowed), [200, MAX_HTTP_ACTION_BYTES]);
    assert.deepEqual(await answerTo(url, allowed, chunked), [200, MAX_HTTP_ACTION_BYTES]);
    assert.deepEqual(await answerTo(url, body), [413, tooLarge(20)]);
    const [status, said] = await answerTo(url, body, chunked);
    assert.deepEqual([status, said], [400, "The request body is too large (limit: 20 MiB)"]);
  });
});

/** Not by `fetch`, which chooses how the size is announced. */
async function answerTo(
  url: string,
  body: string | Buffer,
  headers: Record<string, string> = {},
): Promise<[number, unknown]> {
  const length = headers["transfer-encoding"] === undefined ? { "content-length": Buffer.byteLength(body) } : {};
  return await new Promise((resolve, reject) => {
    const request = http.request(url, { method: "POST", headers: { ...length, ...headers } }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () => {
        const text = Buffer.concat(chunks).toString();
        resolve([response.statusCode!, /^[\d{]/.test(text) ? JSON.parse(text) : text]);
      });
    });
    request.on("error", reject);
    request.end(body);
  });
}
