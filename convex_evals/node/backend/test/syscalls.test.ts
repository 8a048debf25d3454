/** What code of the app can do by calling `Convex` itself, past convex/server: no more than with it. */

import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { api, deploy, errorOf, type Files, type TestApp } from "./harness.ts";

const HEAD = `
import { query, mutation, action, internalMutation } from "./_generated/server";
import { internal, components } from "./_generated/api";
import { createFunctionHandle } from "convex/server";
import { v } from "convex/values";
const { syscall, asyncSyscall, jsSyscall } = { syscall: (op: string, args: object): any => JSON.parse(Convex.syscall(op, JSON.stringify(args))), asyncSyscall: async (op: string, args: object): Promise<any> => JSON.parse(await Convex.asyncSyscall(op, JSON.stringify(args))), jsSyscall: async (op: string, args: object): Promise<any> => await Convex.jsSyscall(op, args) };
declare const Convex: any;
`;

async function deployed(t: TestContext, body: string, more: Files = {}): Promise<TestApp> {
  return await deploy(t, { ...more, "convex/m.ts": HEAD + body });
}

const LIMITS = ["none", -1, null, [], {}, true, "1e9"];

test("limits of a nested call are numbers", async (t) => {
  const app = await deployed(
    t,
    `export const seed = mutation({ args: {}, handler: async (ctx) => { for (let n = 0; n < 3; n++) await ctx.db.insert("rows", { n }); } });
     export const all = query({ args: {}, handler: async (ctx) => (await ctx.db.query("rows").collect()).length });
     export const write = mutation({ args: {}, handler: async (ctx) => { await ctx.db.insert("rows", {}); } });
     export const read = query({ args: { limit: v.any() }, handler: async (ctx, { limit }): Promise<any> => await (ctx.runQuery as any)("m:all", {}, { transactionLimits: { documentsRead: limit } }) });
     export const stale = mutation({ args: { limit: v.any() }, handler: async (ctx, { limit }): Promise<any> => await (ctx.runQuery as any)("m:all", {}, { useStaleSnapshot: true, transactionLimits: { documentsRead: limit } }) });
     export const writes = mutation({ args: { limit: v.any() }, handler: async (ctx, { limit }): Promise<any> => await (ctx.runMutation as any)("m:write", {}, { transactionLimits: { documentsWritten: limit } }) });
     export const whole = query({ args: {}, handler: async (ctx): Promise<any> => await (ctx.runQuery as any)("m:all", {}, { transactionLimits: "none" }) });`,
  );
  await app.admin.mutation(api.m.seed, {});
  const refused = /Invalid argument `transactionLimits`/;
  for (const limit of LIMITS) {
    assert.match(
      (await errorOf(() => app.admin.query(api.m.read, { limit }))).message,
      refused,
      `read ${String(limit)}`,
    );
    assert.match((await errorOf(() => app.admin.mutation(api.m.stale, { limit }))).message, refused);
    assert.match((await errorOf(() => app.admin.mutation(api.m.writes, { limit }))).message, refused);
  }
  assert.match((await errorOf(() => app.admin.query(api.m.whole, {}))).message, refused);
  assert.match((await errorOf(() => app.admin.query(api.m.read, { limit: 2 }))).message, /Too many documents read/);
  assert.equal(await app.admin.query(api.m.read, { limit: 3 }), 3);
  assert.equal(await app.admin.query(api.m.all, {}), 3);
});

test("sizes and times are numbers, too", async (t) => {
  const app = await deployed(
    t,
    `const search = async (limit: any): Promise<any> => await asyncSyscall("1.0/actions/vectorSearch", { query: { indexName: "docs.by_e", limit, vector: [1, 1], expressions: null } });
     export const vector = action({ args: { limit: v.any() }, handler: async (_ctx, { limit }): Promise<any> => (await search(limit)).results.length });
     const source = { type: "FullTableScan", tableName: "docs", order: "asc" };
     export const page = query({ args: { given: v.any() }, handler: async (_ctx, { given }): Promise<any> => (await asyncSyscall("1.0/queryPage", { query: { source, operators: [] }, cursor: null, pageSize: 1, ...given })).page.length });
     export const noop = mutation({ args: {}, handler: async () => {} });
     export const later = mutation({ args: { ts: v.any() }, handler: async (_ctx, { ts }): Promise<any> => await asyncSyscall("1.0/schedule", { name: "m:noop", ts, args: {} }) });
     export const seed = mutation({ args: {}, handler: async (ctx) => { for (let n = 0; n < 3; n++) await ctx.db.insert("docs", { e: [n, 1] }); } });`,
    {
      "convex/schema.ts": `import { defineSchema, defineTable } from "convex/server"; import { v } from "convex/values";
        export default defineSchema({ docs: defineTable({ e: v.array(v.float64()) }).vectorIndex("by_e", { vectorField: "e", dimensions: 2 }) });`,
    },
  );
  await app.admin.mutation(api.m.seed, {});
  for (const limit of ["x", -1, 1.5, [1]]) {
    const { message } = await errorOf(() => app.admin.action(api.m.vector, { limit }));
    assert.match(message, /Vector queries can fetch/, String(limit));
  }
  assert.equal(await app.admin.action(api.m.vector, { limit: 2 }), 2);
  for (const given of [{ pageSize: "x" }, { pageSize: -1 }, { maximumRowsRead: "x" }, { maximumBytesRead: [] }]) {
    const { message } = await errorOf(() => app.admin.query(api.m.page, { given }));
    assert.match(message, /Invalid argument/, JSON.stringify(given));
  }
  assert.equal(await app.admin.query(api.m.page, { given: { pageSize: 2, maximumRowsRead: null } }), 2);
  for (const ts of ["x", null, []]) {
    assert.match((await errorOf(() => app.admin.mutation(api.m.later, { ts }))).message, /scheduler/, String(ts));
  }
});

const ANYONE = `
export const noop = mutation({ args: {}, handler: async () => "noop" });
export const acted = action({ args: {}, handler: async () => "acted" });
export const seed = mutation({ args: {}, handler: async (ctx): Promise<any> => [await ctx.db.insert("rows", { n: 1 }), await ctx.scheduler.runAfter(60_000, internal.m.hidden, {}), await ctx.db.insert("rows", { n: 2 })] });
export const hidden = internalMutation({ args: {}, handler: async () => {} });
export const stored = action({ args: {}, handler: async (ctx) => await ctx.storage.store(new Blob(["x"])) });
const made = { async: asyncSyscall, sync: async (op: string, args: object) => syscall(op, args), js: jsSyscall };
const ask = async ({ how, op, given }: any): Promise<any> => (await made[how as keyof typeof made](op, given)) ?? null;
const takes = { how: v.string(), op: v.string(), given: v.any() };
export const q = query({ args: takes, handler: async (_ctx, args): Promise<any> => await ask(args) });
export const m = mutation({ args: takes, handler: async (_ctx, args): Promise<any> => await ask(args) });
export const a = action({ args: takes, handler: async (_ctx, args): Promise<any> => await ask(args) });
export const jobs = query({ args: {}, handler: async (ctx): Promise<any> => [(await ctx.db.query("rows").collect()).length, (await ctx.db.system.query("_scheduled_functions").collect()).map((job) => job.state.kind), (await ctx.db.system.query("_storage").collect()).map((file) => file.size)] });
`;
const HTTP: Files = {
  "convex/http.ts": `import { httpRouter } from "convex/server"; import { httpAction } from "./_generated/server"; declare const Convex: any;
const http = httpRouter();
http.route({ path: "/ask", method: "POST", handler: httpAction(async (_ctx, request) => { const { how, op, given } = await request.json(); try { return Response.json(how === "js" ? await Convex.jsSyscall(op, given) : how === "sync" ? Convex.syscall(op, JSON.stringify(given)) : await Convex.asyncSyscall(op, JSON.stringify(given))); } catch (error: any) { return new Response(error.message, { status: 500 }); } }) });
export default http;`,
  "convex/n.ts": `"use node"; import { action } from "./_generated/server"; import { v } from "convex/values"; declare const Convex: any;
export const a = action({ args: { how: v.string(), op: v.string(), given: v.any() }, handler: async (_ctx, { how, op, given }): Promise<any> => how === "js" ? await Convex.jsSyscall(op, given) : how === "sync" ? Convex.syscall(op, JSON.stringify(given)) : JSON.parse(await Convex.asyncSyscall(op, JSON.stringify(given))) });`,
};

test("what a function may do depends on its kind", async (t) => {
  const app = await deployed(t, ANYONE, HTTP);
  const [id, job] = (await app.admin.mutation(api.m.seed, {})) as [string, string];
  const storageId = await app.admin.action(api.m.stored, {});
  const source = { type: "FullTableScan", tableName: "rows", order: "asc" };
  const query = { source, operators: [] };
  const call = (name: string, more = {}): object => ({ name, args: {}, requestId: "", ...more });
  const reads: [string, string, object][] = [
    ["sync", "1.0/queryStream", { query }],
    ["sync", "1.0/db/normalizeId", { table: "rows", idString: id }],
    ["async", "1.0/queryStreamNext", { queryId: 1 }],
    ["async", "1.0/queryPage", { query, cursor: null, pageSize: 9 }],
    ["async", "1.0/get", { id }],
    ["async", "1.0/count", { table: "rows" }],
    ["async", "1.0/runUdf", call("m:jobs", { udfType: "query" })],
  ];
  const writes: [string, string, object][] = [
    ["async", "1.0/insert", { table: "rows", value: {} }],
    ["async", "1.0/shallowMerge", { id, value: { n: 3 } }],
    ["async", "1.0/replace", { id, value: {} }],
    ["async", "1.0/remove", { id }],
    ["async", "1.0/schedule", call("m:noop", { ts: Date.now() / 1000 + 60 })],
    ["async", "1.0/cancel_job", { id: job }],
    ["async", "1.0/runUdf", call("m:noop", { udfType: "mutation" })],
    ["async", "1.0/runUdf", call("m:jobs", { udfType: "snapshotQuery" })],
  ];
  const files: [string, string, object][] = [
    ["async", "1.0/storageGenerateUploadUrl", {}],
    ["async", "1.0/storageGet", { storageId }],
    ["async", "1.0/storageStore", { blob: "eA==" }],
    ["async", "1.0/storageDelete", { storageId }],
  ];
  const actions: [string, string, object][] = [
    ["async", "1.0/actions/query", call("m:jobs")],
    ["async", "1.0/actions/mutation", call("m:noop")],
    ["async", "1.0/actions/action", call("m:acted")],
    ["async", "1.0/actions/schedule", call("m:noop", { ts: Date.now() / 1000 + 60 })],
    ["async", "1.0/actions/cancel_job", { id: job }],
    [
      "async",
      "1.0/actions/vectorSearch",
      { query: { indexName: "rows.none", limit: 1, vector: [1, 1], expressions: null } },
    ],
    ["js", "storage/getBlob", { storageId }],
    ["js", "storage/storeBlob", {}],
  ];
  const asHttp = async (asked: object): Promise<unknown> => {
    const response = await fetch(`${app.backend.siteUrl}/ask`, { method: "POST", body: JSON.stringify(asked) });
    if (!response.ok) throw new Error(await response.text());
    return await response.text();
  };
  const kinds: Record<string, [(asked: Record<string, any>) => Promise<unknown>, [string, string, object][]]> = {
    query: [async (asked) => await app.admin.query(api.m.q, asked), [...writes, ...files, ...actions]],
    mutation: [async (asked) => await app.admin.mutation(api.m.m, asked), actions],
    action: [async (asked) => await app.admin.action(api.m.a, asked), [...reads, ...writes]],
    "action of Node.js": [async (asked) => await app.admin.action(api.n.a, asked), [...reads, ...writes]],
    "HTTP action": [asHttp, [...reads, ...writes]],
  };
  const before = await app.admin.query(api.m.jobs, {});
  for (const [kind, [ask, refused]] of Object.entries(kinds)) {
    for (const [how, op, given] of refused) {
      const { message } = await errorOf(async () =>
        assert.fail(`${kind} did ${op}: ${String(await ask({ how, op, given }))}`),
      );
      assert.match(
        message,
        /Unknown async operation|Cannot call a|cannot be used in a Node.js action/,
        `${kind} ${op}`,
      );
    }
  }
  assert.deepEqual(await app.admin.query(api.m.jobs, {}), before);
  for (const [how, op, given] of reads) await app.admin.query(api.m.q, { how, op, given });
  for (const [how, op, given] of [...reads, ...writes.filter(([, written]) => written !== "1.0/remove")]) {
    await app.admin.mutation(api.m.m, { how, op, given });
  }
  for (const [how, op, given] of actions.slice(0, 5)) await app.admin.action(api.m.a, { how, op, given });
});

test("no function writes to system tables", async (t) => {
  const app = await deployed(t, ANYONE);
  const [, job] = (await app.admin.mutation(api.m.seed, {})) as [string, string];
  const file = (await app.admin.action(api.m.stored, {})) as string;
  const before = await app.admin.query(api.m.jobs, {});
  const value = { args: [], name: "m.js:noop", scheduledTime: 0, state: { kind: "pending" } };
  for (const table of ["_scheduled_functions", "_storage", "_indexes", ["_storage"], null]) {
    const { message } = await errorOf(() =>
      app.admin.mutation(api.m.m, { how: "async", op: "1.0/insert", given: { table, value } }),
    );
    assert.match(message, /System tables can only|Invalid arguments for/, String(table));
  }
  for (const id of [job, file]) {
    for (const op of ["1.0/shallowMerge", "1.0/replace", "1.0/remove"]) {
      for (const more of [{}, { isSystem: true }, { isSystem: true, table: "_storage" }, { table: "rows" }]) {
        const given = { id, value: { state: { kind: "success" } }, ...more };
        const { message } = await errorOf(() => app.admin.mutation(api.m.m, { how: "async", op, given }));
        assert.match(message, /System tables can only/, op);
      }
    }
    const given = { id, isSystem: true };
    assert.equal(((await app.admin.query(api.m.q, { how: "async", op: "1.0/get", given })) as { _id: string })._id, id);
  }
  assert.deepEqual(await app.admin.query(api.m.jobs, {}), before);
});

test("what runs is what was registered", async (t) => {
  const seeming = `const seeming = (registered: any, right: any): any => Object.assign(registered, { _handler: right });
     const standing = (registered: any, right: any): any => Object.assign((...args: any[]) => right(...args), registered, { _handler: right });
     const right = async (_ctx: any, args: any): Promise<string> => "right" + (args.more ?? "");
     const wrong = { args: { more: v.optional(v.string()) }, handler: async (_ctx: any, args: any): Promise<string> => "wrong" + (args.more ?? "") };`;
  const app = await deployed(
    t,
    `${seeming}
     export const q = seeming(query(wrong), right), m = seeming(mutation(wrong), right), a = seeming(action(wrong), right), i = seeming(internalMutation(wrong), right);
     export const sq = standing(query(wrong), right), sm = standing(mutation(wrong), right), sa = standing(action(wrong), right);
     export const calls = action({ args: {}, handler: async (ctx): Promise<any> => [await ctx.runQuery("m:q" as any, { more: "!" }), await ctx.runMutation("m:i" as any, {}), await ctx.runAction("n:a" as any, {})] });
     export const nested = mutation({ args: {}, handler: async (ctx): Promise<any> => [await ctx.runQuery("m:q" as any, {}), await ctx.runMutation("m:m" as any, {})] });`,
    {
      "convex/n.ts": `"use node"; import { action } from "./_generated/server"; import { v } from "convex/values"; ${seeming}
        export const a = seeming(action(wrong), right);`,
      "convex/http.ts": `import { httpRouter } from "convex/server"; import { httpAction } from "./_generated/server";
        const http = httpRouter();
        http.route({ path: "/h", method: "GET", handler: Object.assign(httpAction(async () => new Response("wrong")), { _handler: async () => new Response("right") }) as any });
        export default http;`,
    },
  );
  for (const name of ["q", "sq"]) assert.equal(await app.admin.query(api.m[name], { more: "!" }), "wrong!", name);
  for (const name of ["m", "i", "sm"]) assert.equal(await app.admin.mutation(api.m[name], {}), "wrong", name);
  for (const name of ["a", "sa"]) assert.equal(await app.admin.action(api.m[name], {}), "wrong", name);
  assert.equal(await app.admin.action(api.n.a, {}), "wrong");
  assert.deepEqual(await app.admin.action(api.m.calls, {}), ["wrong!", "wrong", "wrong"]);
  assert.deepEqual(await app.admin.mutation(api.m.nested, {}), ["wrong", "wrong"]);
  assert.equal(await (await fetch(`${app.backend.siteUrl}/h`)).text(), "wrong");
});

test("stacks have no frames of the library in the bundle", async (t) => {
  const app = await deployed(
    t,
    `export const fails = query({ args: {}, handler: async (ctx) => await ctx.db.get("no id" as any) });
     export const acts = action({ args: {}, handler: async (ctx): Promise<any> => await ctx.runQuery("m:fails" as any, {}) });`,
  );
  for (const run of [() => app.admin.query(api.m.fails, {}), () => app.admin.action(api.m.acts, {})]) {
    const { message } = await errorOf(run);
    assert.match(message, /Invalid argument `id`[^]* {4}at .*handler \(\.\.\/convex\/m\.ts/);
    assert.doesNotMatch(message, /node_modules|_deps/);
  }
});
