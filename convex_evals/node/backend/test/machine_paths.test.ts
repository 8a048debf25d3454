/** Where things lie on the machine that keeps an app, clients are not told. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import path from "node:path";
import { test, type TestContext } from "node:test";
import { SyncSocket } from "../clients/test/sync_socket.ts";
import { machineFolders, withoutPaths } from "../machine_paths.ts";
import type { BackendOptions } from "../server.ts";
import { deploy, eventually, post, type TestApp } from "./harness.ts";

test("texts", () => {
  const told = withoutPaths(["/home/ann/board", "/home/ann", "/tmp", "/", "/srv/a.b (1)"]);
  const cases: [string, string][] = [
    ["no path: /api/run/messages/list, a/tmp/b, /tmpfile, https://x.org/tmp/y, /home/anna", ""],
    ["/home/ann/board/log-00000000: cannot be written (no space)", "log-00000000: cannot be written (no space)"],
    ["at f (/tmp/x/project/convex/dir/m.ts:3:5)", "at f (../convex/dir/m.ts:3:5)"],
    ["at file:///home/ann/.cache/src/backend.mjs:3:5", "at backend.mjs:3:5"],
    ["at g (../../../home/ann/c/node_modules/pkg/convex/x.js:1:1)", "at g (../node_modules/pkg/convex/x.js:1:1)"],
    ["open '/tmp/a', /home/ann/convex/b/node_modules/c/d", "open 'a', ../node_modules/c/d"],
    ["scandir '/tmp'. In /home/ann.", "scandir '(a folder)'. In (a folder)."],
    ["/srv/a.b (1)/x and /srv/aXb (1)/x", "x and /srv/aXb (1)/x"],
  ];
  for (const [text, expected] of cases) assert.equal(told(text), expected || text);
});

test("long texts take no time to speak of", () => {
  const told = withoutPaths(machineFolders("/data"));
  const startedMs = performance.now();
  for (const part of ["../", "/", "/tmp", "file://", "/tmp/", "a"]) told(part.repeat((4 << 20) / part.length));
  assert.ok(performance.now() - startedMs < 10_000);
});

const FILE = "secret-file.txt";

// The places are written at run time: where they were written by the test, the bundle would have them as well.
const APP = (places: readonly string[]): Record<string, string> => ({
  "convex/m.ts": `import { mutation, query } from "./_generated/server";
    const text = "cannot read " + ${JSON.stringify(places.map((place) => `${place}/${FILE}`).join(" or "))};
    const fail = (): never => { throw new Error(text); };
    export const q = query({ args: {}, handler: async () => { console.log(text); return fail(); } });
    export const big = mutation({ args: {}, handler: async (ctx) => { for (let i = 0; i < 8; i++) await ctx.db.insert("t", { text: "x".repeat(500_000) }); } });`,
  "convex/n.ts": `"use node";
    import { readFileSync } from "node:fs";
    import { action } from "./_generated/server";
    export const read = action({ args: {}, handler: async () => readFileSync(${JSON.stringify(`${homedir()}/.${FILE}`)}, "utf8") });
    export const stack = action({ args: {}, handler: async () => { try { readFileSync("/tmp/${FILE}"); } catch (error) { throw new Error((error as Error).stack); } } });`,
  "convex/http.ts": `import { httpRouter } from "convex/server";
    import { httpAction } from "./_generated/server";
    const http = httpRouter();
    http.route({ path: "/fails", method: "GET", handler: httpAction(async () => { throw new Error(${JSON.stringify(places[0])} + "/${FILE}"); }) });
    export default http;`,
});

async function kept(t: TestContext): Promise<TestApp & { readonly folder: string }> {
  const folder = mkdtempSync(path.join(tmpdir(), "paths-"));
  const fail = (line: string): never => assert.fail(line);
  const options: BackendOptions = { data: { folder, onFatal: fail, onWarning: () => {} } };
  const app = await deploy(t, APP([folder, homedir()]), options);
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return { ...app, folder };
}

test("errors of an app that is kept", async (t) => {
  const { backend, folder } = await kept(t);
  const clean = (answer: unknown): void => {
    const text = JSON.stringify(answer);
    for (const place of [folder, tmpdir(), homedir(), path.resolve(import.meta.dirname, "../..")]) {
      assert.ok(!text.includes(`${place}/`) && !text.includes(`${place}"`), `${place}: ${text}`);
    }
  };
  const call = async (kind: string, fn: string): Promise<Record<string, unknown>> =>
    (await post(`${backend.url}/api/${kind}`, { path: fn, args: {} })).body;

  await t.test("of functions, and what they log", async () => {
    const answer = await call("query", "m:q");
    assert.match(String(answer["errorMessage"]), /Error: cannot read secret-file\.txt or secret-file\.txt\n/);
    assert.match(String(answer["errorMessage"]), /at \w+ \(\.\.\/convex\/m\.ts:\d+:\d+\)/);
    assert.deepEqual(answer["logLines"], ["[LOG] 'cannot read secret-file.txt or secret-file.txt'"]);
    clean(answer);
  });

  await t.test("of actions in Node.js", async () => {
    for (const name of ["n:read", "n:stack"]) {
      const answer = await call("action", name);
      assert.match(String(answer["errorMessage"]), /ENOENT: no such file or directory, open '\.?secret-file\.txt'/);
      clean(answer);
    }
  });

  await t.test("of HTTP actions", async () => {
    const response = await fetch(`${backend.siteUrl}/fails`);
    const answer = (await response.json()) as Record<string, unknown>;
    assert.equal(response.status, 500);
    assert.match(String(answer["code"]), /Server Error: Uncaught Error: secret-file\.txt$/);
    assert.match(
      String(answer["trace"]),
      /^Uncaught Error: secret-file\.txt\n {4}at \.\.\/convex\/http\.ts:\d+:\d+\n$/,
    );
  });

  await t.test("of a full disk, by HTTP and by WebSocket", async (inner) => {
    const limit = (bytes: string): unknown => execFileSync("prlimit", ["--pid", `${process.pid}`, `--fsize=${bytes}:`]);
    limit("1000000");
    inner.after(() => limit("unlimited"));
    const answer = await call("mutation", "m:big");
    const socket = await new SyncSocket(backend.url).opened();
    inner.after(() => socket.socket.terminate());
    socket.connect();
    socket.send({ type: "Mutation", requestId: 0, udfPath: "m:big", args: [{}] });
    const response = await eventually(() => socket.received.find(({ type }) => type === "MutationResponse"));
    for (const said of [answer["errorMessage"], response["result"]]) {
      assert.match(String(said), /Error: log-\d+: cannot be written \(file too large\); nothing was changed/);
    }
    clean([answer, response]);
  });

  await t.test("of the backend itself", async () => {
    backend.app.auth.callerOfHeader = async () => await Promise.reject(new Error(`${folder}/${FILE}`));
    const answer = await call("query", "m:q");
    assert.equal(answer["code"], "InternalServerError");
    assert.match(String(answer["message"]), /^Error: secret-file\.txt\n\s+at /);
    clean(answer);
  });
});

test("without kept data, errors are told whole", async (t) => {
  const { backend } = await deploy(t, APP(["/tmp/place"]));
  const { body } = await post(`${backend.url}/api/query`, { path: "m:q", args: {} });
  assert.match(String(body["errorMessage"]), /cannot read \/tmp\/place\/secret-file\.txt/);
});
