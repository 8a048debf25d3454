/** Short by default; SOAK=1 ends many more. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { api, deploy, emptyBackend, errorOf, makeProject, SOAK, startPush } from "./harness.ts";

const SPINS = `
import { query, mutation, action, internalMutation, internalAction } from "./_generated/server"; import { internal } from "./_generated/api"; import { v } from "convex/values";
export const inQuery = query({ args: {}, handler: async () => { for (;;) {} } });
export const afterAwait = mutation({ args: {}, handler: async (ctx) => { await ctx.db.insert("items", { name: "lost" }); for (;;) {} } });
export const cannotCatch = query({ args: {}, handler: async () => { try { for (;;) {} } catch { return "caught"; } finally { for (;;) {} } } });
export const microtasks = query({ args: {}, handler: async () => { for (;;) await null; } });
export const regexp = query({ args: {}, handler: async () => /^(a+)+$/.test("a".repeat(64) + "b") });
export const nested = mutation({ args: {}, handler: async (ctx): Promise<any> => await ctx.runMutation(internal.spins.inner, {}) });
export const inner = internalMutation({ args: {}, handler: async (ctx) => { await ctx.db.insert("items", { name: "lost" }); for (;;) {} } });
export const inAction = action({ args: {}, handler: async () => { await new Promise((resolve) => setTimeout(resolve, 1)); for (;;) {} } });
export const inTimer = action({ args: {}, handler: async () => await new Promise(() => { setTimeout(() => { for (;;) {} }, 1); }) });
export const catches = action({ args: {}, handler: async (ctx): Promise<string> => { try { await ctx.runMutation(internal.spins.inner, {}); return "?"; } catch (e: any) { return e.message; } } });
export const add = mutation({ args: { name: v.string() }, handler: async (ctx, args) => await ctx.db.insert("items", args) });
export const names = query({ args: {}, handler: async (ctx) => (await ctx.db.query("items").collect()).map((item) => item.name) });
export const job = internalMutation({ args: {}, handler: async () => { for (;;) {} } });
export const schedule = mutation({ args: {}, handler: async (ctx) => await ctx.scheduler.runAfter(0, internal.spins.job, {}) });
export const state = query({ args: { id: v.id("_scheduled_functions") }, handler: async (ctx, { id }) => (await ctx.db.system.get(id))?.state });
`;
const FILES = {
  "convex/schema.ts":
    'import { defineSchema, defineTable } from "convex/server"; import { v } from "convex/values"; export default defineSchema({ items: defineTable({ name: v.string() }) });',
  "convex/spins.ts": SPINS,
  "convex/http.ts":
    'import { httpRouter } from "convex/server"; import { httpAction } from "./_generated/server"; const http = httpRouter(); http.route({ path: "/spin", method: "GET", handler: httpAction(async () => { for (;;) {} }) }); export default http;',
  "convex/nodeSpin.ts":
    '"use node"; import { action } from "./_generated/server"; export const spin = action({ args: {}, handler: async () => { await new Promise((resolve) => setImmediate(resolve)); for (;;) {} } });\nexport const inImmediate = action({ args: {}, handler: async () => await new Promise(() => { setImmediate(() => { for (;;) {} }); }) });',
  "convex/nodeQueues.ts": `"use node"; import { action } from "./_generated/server";
    export const ticks = action({ args: {}, handler: async () => await new Promise(() => { const again = (): void => process.nextTick(again); again(); }) });
    export const microtasks = action({ args: {}, handler: async () => await new Promise(() => { const again = (): void => queueMicrotask(again); again(); }) });`,
};
const TIMED_OUT = /Function execution timed out \(maximum duration: 0\.3s\)/;

test("code that never lets go is ended, and the backend goes on", async (t) => {
  const { backend, http, connect } = await deploy(t, FILES, { limits: { transactionMs: 300, actionBusyMs: 300 } });
  const spins = api.spins;

  for (const name of ["inQuery", "cannotCatch", "microtasks", "regexp"]) {
    await t.test(name, async () => {
      const others = [http.query(spins.names), http.query(spins.names)];
      assert.match((await errorOf(() => http.query(spins[name]))).message, TIMED_OUT);
      for (const other of others) assert.deepEqual(await other, []);
    });
  }

  for (const name of ["afterAwait", "nested"]) {
    await t.test(`${name} is rolled back`, async () => {
      assert.match((await errorOf(() => http.mutation(spins[name]))).message, TIMED_OUT);
      assert.deepEqual(await http.query(spins.names), []);
    });
  }

  for (const path of [spins.inAction, spins.inTimer, api.nodeSpin.spin, api.nodeSpin.inImmediate]) {
    await t.test(`actions: ${String(path[Symbol.for("functionName")])}`, async () => {
      const before = await http.mutation(spins.add, { name: "x" });
      assert.ok(before);
      assert.match((await errorOf(() => http.action(path))).message, TIMED_OUT);
    });
  }

  // Whoever is ended between two callbacks must not take Node's stack of async ids along, and the process with it.
  for (const name of ["ticks", "microtasks"]) {
    await t.test(`queues that never run empty: ${name}`, async () => {
      for (let round = 0; round < (SOAK ? 100 : 4); round++) {
        assert.match((await errorOf(() => http.action(api.nodeQueues[name]))).message, TIMED_OUT);
      }
    });
  }

  await t.test("an action can catch the failure of what it called", async () => {
    assert.match(await http.action(spins.catches), TIMED_OUT);
  });

  await t.test("an HTTP action", async () => {
    const response = await fetch(`${backend.siteUrl}/spin`);
    assert.equal(response.status, 500);
    assert.match(await response.text(), TIMED_OUT);
  });

  await t.test("a scheduled function fails", async () => {
    const id = await http.mutation(spins.schedule);
    await new Promise((resolve) => setTimeout(resolve, 900));
    assert.equal((await http.query(spins.state, { id })).kind, "failed");
  });

  await t.test("a subscription reports the error, and the connection lives", async () => {
    const client = connect();
    const failed = new Promise<Error>((resolve) => client.onUpdate(spins.inQuery, {}, () => {}, resolve));
    assert.match((await failed).message, TIMED_OUT);
    assert.equal(((await client.query(spins.names, {})) as string[]).length, 4);
  });

  await t.test("many in a row", async () => {
    const results = await Promise.all(Array.from({ length: 4 }, () => errorOf(() => http.query(spins.inQuery))));
    for (const error of results) assert.match(error.message, TIMED_OUT);
    assert.equal(((await http.query(spins.names)) as string[]).length, 4);
  });
});

test("a module that never finishes loading is refused", async (t) => {
  const backend = await emptyBackend(t);
  const bad = makeProject(t, { "convex/bad.ts": "export const one = 1; while (Math.abs(one) > 0) Math.sqrt(2);" });
  const answer = await startPush(backend, bad);
  assert.equal(answer.status, 400);
  assert.match(String(answer.body["message"]), /Function execution timed out \(maximum duration: 4s\)/);
  const good = makeProject(t, {
    "convex/good.ts":
      'import { query } from "./_generated/server"; export const one = query({ args: {}, handler: async () => 1 });',
  });
  assert.equal((await startPush(backend, good)).status, 200);
});
