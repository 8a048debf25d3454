/** Where a project gets in, the admin key is of no use, in whatever way it is sent. */

import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { ConvexClient, ConvexHttpClient } from "convex/browser";
import { buildPushRequest } from "../../push/request.ts";
import { EVERYTHING, FOR_PROJECT, FOR_TESTER, type Door } from "../doors.ts";
import { PushApi } from "../push_api.ts";
import type { Backend } from "../server.ts";
import { ADMIN_KEY } from "../versions.ts";
import { api, emptyBackend, errorOf, makeProject, post } from "./harness.ts";

const APP = {
  "convex/notes.ts": `
    import { internalQuery, query } from "./_generated/server";
    export const open = query({ args: {}, handler: async (ctx) => (await ctx.auth.getUserIdentity())?.subject ?? "nobody" });
    export const hidden = internalQuery({ args: {}, handler: async () => "hidden" });
  `,
  "convex/http.ts": `
    import { httpRouter } from "convex/server";
    import { httpAction } from "./_generated/server";
    const http = httpRouter();
    const handler = httpAction(async (ctx) => new Response((await ctx.auth.getUserIdentity())?.subject ?? "nobody"));
    http.route({ path: "/who", method: "GET", handler });
    export default http;
  `,
};
const HEADERS = { authorization: `Convex ${ADMIN_KEY}` };
const AS_ADA = {
  authorization: `${HEADERS.authorization}:${Buffer.from('{"subject":"ada","issuer":"x"}').toString("base64")}`,
};

interface AdminAuthenticated {
  setAdminAuth(key: string, identity?: object): void;
}

async function deployedBehind(t: TestContext, door: Door): Promise<Backend> {
  const backend = await emptyBackend(t, { door });
  const push = new PushApi(backend.app);
  const request = { ...(await buildPushRequest(makeProject(t, APP))), adminKey: ADMIN_KEY };
  const startPush = await push.handle("start_push", request, EVERYTHING);
  await push.handle("finish_push", { adminKey: ADMIN_KEY, startPush, dryRun: false }, EVERYTHING);
  return backend;
}

/** What the clients call "hidden" and who they are there; null where they are refused. */
async function bySocket(t: TestContext, { url }: Backend): Promise<unknown> {
  const client = new ConvexClient(url, { logger: false });
  t.after(() => client.close());
  (client as unknown as AdminAuthenticated).setAdminAuth(ADMIN_KEY);
  return await client.query(api.notes.hidden, {}).catch(() => null);
}

async function byHttp({ url }: Backend): Promise<unknown> {
  const client = new ConvexHttpClient(url, { logger: false });
  (client as unknown as AdminAuthenticated).setAdminAuth(ADMIN_KEY);
  return await client.query(api.notes.hidden, {}).catch(() => null);
}

test("the tester's door honours the admin key", async (t) => {
  const backend = await deployedBehind(t, FOR_TESTER);
  assert.equal(await byHttp(backend), "hidden");
  assert.equal(await bySocket(t, backend), "hidden");
  assert.equal((await fetch(`${backend.url}/api/check_admin_key`, { headers: HEADERS })).status, 200);
  assert.equal(await (await fetch(`${backend.siteUrl}/who`, { headers: AS_ADA })).text(), "ada");
});

test("the project's door does not", async (t) => {
  const backend = await deployedBehind(t, FOR_PROJECT);
  assert.equal(await new ConvexHttpClient(backend.url, { logger: false }).query(api.notes.open, {}), "nobody");
  assert.equal(await byHttp(backend), null);
  assert.equal(await bySocket(t, backend), null);
  assert.equal(await (await fetch(`${backend.siteUrl}/who`, { headers: AS_ADA })).text(), "nobody");
  const asked: [string, object | null, Record<string, string>][] = [
    ["/api/check_admin_key", null, HEADERS],
    ["/api/stream_function_logs", null, HEADERS],
    ["/api/query?path=notes:hidden&args={}", null, HEADERS],
    ["/api/update_environment_variables", { changes: [{ name: "A", value: "1" }] }, HEADERS],
    ["/api/get_config_hashes", { adminKey: ADMIN_KEY }, {}],
    ["/api/query", { path: "notes:open", args: {} }, AS_ADA],
    ["/api/query", { path: "_system/cli/modules:apiSpec", args: {} }, HEADERS],
    ["/api/mutation", { path: "_system/frontend/addDocument", args: { table: "a", documents: [{}] } }, HEADERS],
    ["/api/run/notes/hidden", { args: {} }, HEADERS],
    ["/api/deploy2/start_push", { ...(await buildPushRequest(makeProject(t, APP))), adminKey: ADMIN_KEY }, {}],
  ];
  for (const [path, body, headers] of asked) {
    const url = `${backend.url}${path}`;
    const status = body === null ? (await fetch(url, { headers })).status : (await post(url, body, headers)).status;
    assert.ok(status === 401 || status === 403, `${path}: ${status}`);
  }
});

test("deployments come by a door of their own", async (t) => {
  const backend = await deployedBehind(t, FOR_TESTER);
  const push = new PushApi(backend.app);
  const error = await errorOf(async () => await push.handle("start_push", { adminKey: ADMIN_KEY }, FOR_PROJECT));
  assert.match(error.message, /admin key/);
  const body = { ...(await buildPushRequest(makeProject(t, APP))), adminKey: ADMIN_KEY };
  assert.equal((await post(`${backend.url}/api/deploy2/start_push`, body)).status, 403);
});
