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
