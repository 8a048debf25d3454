/** Pages of other sites, in a browser on the machine that keeps an app: they may read. */

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test, type TestContext } from "node:test";
import { SyncSocket } from "../clients/test/sync_socket.ts";
import type { BackendOptions } from "../server.ts";
import { ADMIN_KEY } from "../versions.ts";
import { deploy, eventually, post, type TestApp } from "./harness.ts";

const APP = {
  "convex/notes.ts": `import { action, mutation, query } from "./_generated/server";
    export const count = query({ args: {}, handler: async (ctx) => (await ctx.db.query("notes").collect()).length });
    export const add = mutation({ args: {}, handler: async (ctx) => { await ctx.db.insert("notes", {}); return "added"; } });
    export const act = action({ args: {}, handler: async () => "acted" });
    export const uploadUrl = mutation({ args: {}, handler: (ctx) => ctx.storage.generateUploadUrl() });`,
  "convex/http.ts": `import { httpRouter } from "convex/server";
    import { httpAction } from "./_generated/server";
    const http = httpRouter();
    const handler = httpAction(async (_ctx, request) => new Response(request.method));
    for (const method of ["GET", "POST"]) http.route({ path: "/action", method, handler });
    export default http;`,
};

const FOREIGN = [
  "https://example.com",
  "http://localhost:5173",
  "http://127.0.0.1",
  "http://example.com:PORT",
  "http://localhost.example.com:PORT",
  "https://localhost:PORT",
  "null",
];
const OWN = ["http://127.0.0.1:PORT", "http://localhost:PORT", "http://[::1]:PORT", "http://localhost:SITE"];

async function kept(t: TestContext): Promise<TestApp> {
  const folder = mkdtempSync(path.join(tmpdir(), "pages-"));
  const fail = (line: string): never => assert.fail(line);
  const options: BackendOptions = { data: { folder, onFatal: fail, onWarning: fail } };
  const app = await deploy(t, APP, options);
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return app;
}

interface Asked {
  readonly path: string;
  readonly body: unknown;
  readonly headers?: Record<string, string>;
}

const call = (route: string, fn: string): Asked => ({ path: `/api/${route}`, body: { path: `notes:${fn}`, args: {} } });
const ADMIN = { authorization: `Convex ${ADMIN_KEY}` };

const READS: readonly Asked[] = [
  call("query", "count"),
  call("query_at_ts", "count"),
  { path: "/api/query_ts", body: {} },
  { path: "/api/query_batch", body: { queries: [{ path: "notes:count", args: {} }] } },
];

const WRITES: readonly Asked[] = [
  call("mutation", "add"),
  call("action", "act"),
  { path: "/api/run/notes/add", body: { args: {} } },
  { ...call("function", "add"), headers: ADMIN },
  { path: "/api/update_environment_variables", body: { changes: [{ name: "A", value: "1" }] }, headers: ADMIN },
  { path: "/api/get_config_hashes", body: { adminKey: ADMIN_KEY } },
];
const PUSH: Asked = { path: "/api/deploy2/start_push", body: { adminKey: ADMIN_KEY } };

const placed = (origin: string, { backend }: TestApp): string =>
  origin.replace("PORT", `${backend.port}`).replace("SITE", `${backend.sitePort}`);

async function statusOf({ backend }: TestApp, { path: where, body, headers }: Asked, origin?: string): Promise<number> {
  const all = { ...headers, ...(origin === undefined ? {} : { origin }) };
  return (await post(`${backend.url}${where}`, body, all)).status;
}

async function uploadUrl({ backend }: TestApp): Promise<string> {
  return String((await post(`${backend.url}/api/mutation`, { path: "notes:uploadUrl", args: {} })).body["value"]);
}

async function said(
  t: TestContext,
  { backend }: TestApp,
  origin: string | undefined,
): Promise<Record<string, unknown>> {
  const socket = new SyncSocket(backend.url, undefined, origin === undefined ? {} : { origin });
  t.after(() => socket.socket.terminate());
  await socket.opened();
  socket.connect();
  socket.send({
    ...{ type: "ModifyQuerySet", baseVersion: 0, newVersion: 1 },
    modifications: [{ type: "Add", queryId: 0, udfPath: "notes:count", args: [{}] }],
  });
  socket.send({ type: "Mutation", requestId: 0, udfPath: "notes:add", args: [{}] });
  socket.send({ type: "Action", requestId: 1, udfPath: "notes:act", args: [{}] });
  const types = ["Transition", "MutationResponse", "ActionResponse"];
  const find = (type: string): any => socket.received.find((message) => message.type === type);
  await eventually(() => types.every(find));
  const [transition, mutated, acted] = types.map(find);
  return { read: transition.modifications[0].type, mutated: mutated.result, acted: acted.result };
}

async function count({ backend }: TestApp): Promise<unknown> {
  return (await post(`${backend.url}/api/query`, { path: "notes:count", args: {} })).body["value"];
}

test("pages of other sites, where the app is kept", async (t) => {
  const app = await kept(t);
  const { backend } = app;
  const refusal = { code: "ForeignOrigin", message: "Pages of other sites may only read from this deployment" };
  for (const origin of FOREIGN.map((each) => placed(each, app))) {
    await t.test(origin, async (inner) => {
      for (const asked of READS) assert.equal(await statusOf(app, asked, origin), 200, asked.path);
      for (const asked of [...WRITES, PUSH]) assert.equal(await statusOf(app, asked, origin), 403, asked.path);
      const upload = await fetch(await uploadUrl(app), { method: "POST", body: "x", headers: { origin } });
      assert.deepEqual([upload.status, await upload.json()], [403, refusal]);
      assert.equal(upload.headers.get("access-control-allow-origin"), origin, "the page is told why");
      const key = await fetch(`${backend.url}/api/check_admin_key`, { headers: { ...ADMIN, origin } });
      assert.equal(key.status, 401);
      for (const [method, status] of [
        ["GET", 200],
        ["POST", 403],
      ] as const) {
        const response = await fetch(`${backend.siteUrl}/action`, { method, headers: { origin } });
        assert.equal(response.status, status, method);
      }
      const { message } = refusal;
      assert.deepEqual(await said(inner, app, origin), { read: "QueryUpdated", mutated: message, acted: message });
      assert.equal(await count(app), 0);
    });
  }
});

async function everything(t: TestContext, app: TestApp, origin: string | undefined): Promise<void> {
  for (const asked of [...READS, ...WRITES]) assert.equal(await statusOf(app, asked, origin), 200, asked.path);
  assert.equal(await statusOf(app, PUSH, origin), 400, "a push without an app");
  const headers: Record<string, string> = origin === undefined ? {} : { origin };
  assert.equal((await fetch(await uploadUrl(app), { method: "POST", body: "x", headers })).status, 200);
  const action = await fetch(`${app.backend.siteUrl}/action`, { method: "POST", headers });
  assert.equal(await action.text(), "POST");
  assert.deepEqual(await said(t, app, origin), { read: "QueryUpdated", mutated: "added", acted: "acted" });
}

test("this machine's own programs and pages may do everything", async (t) => {
  const app = await kept(t);
  await t.test("a program", (inner) => everything(inner, app, undefined));
  for (const origin of OWN.map((each) => placed(each, app))) {
    await t.test(origin, (inner) => everything(inner, app, origin));
  }
});

test("without kept data, pages are all alike", async (t) => {
  const app = await deploy(t, APP);
  for (const origin of FOREIGN.map((each) => placed(each, app))) {
    await t.test(origin, (inner) => everything(inner, app, origin));
  }
});
