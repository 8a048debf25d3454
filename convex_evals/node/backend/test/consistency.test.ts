/** Short by default; SOAK=1 runs the figures of the acceptance test. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { ConvexHttpClient } from "convex/browser";
import { api, deploy, eventually, SOAK } from "./harness.ts";

const FILES = {
  "convex/schema.ts":
    'import { defineSchema, defineTable } from "convex/server"; import { v } from "convex/values"; export default defineSchema({ counters: defineTable({ name: v.string(), value: v.number() }).index("by_name", ["name"]) });',
  "convex/counters.ts": `
    import { query, mutation } from "./_generated/server"; import { v } from "convex/values";
    export const set = mutation({ args: { name: v.string(), value: v.number() }, handler: async (ctx, { name, value }) => {
      const row = await ctx.db.query("counters").withIndex("by_name", (q) => q.eq("name", name)).unique();
      if (row) await ctx.db.patch(row._id, { value }); else await ctx.db.insert("counters", { name, value });
    } });
    export const get = query({ args: { name: v.string() }, handler: async (ctx, { name }) => (await ctx.db.query("counters").withIndex("by_name", (q) => q.eq("name", name)).unique())?.value ?? 0 });
    export const increment = mutation({ args: {}, handler: async (ctx) => {
      const row = await ctx.db.query("counters").withIndex("by_name", (q) => q.eq("name", "shared")).unique();
      const value = (row?.value ?? 0) + 1;
      if (row) await ctx.db.patch(row._id, { value }); else await ctx.db.insert("counters", { name: "shared", value });
      return value;
    } });`,
};

test("a read that starts after a mutation's answer sees the write", async (t) => {
  const { backend, connect } = await deploy(t, FILES);
  const writer = new ConvexHttpClient(backend.url, { logger: false });
  const reader = new ConvexHttpClient(backend.url, { logger: false });
  const socket = connect();
  let stale = 0;
  const rounds = SOAK ? 10_000 : 300;
  for (let value = 1; value <= rounds; value++) {
    const overSocket = value % 2 === 0;
    if (overSocket) await socket.mutation(api.counters.set, { name: "a", value });
    else await writer.mutation(api.counters.set, { name: "a", value });
    const read: unknown =
      value % 3 === 0
        ? await socket.query(api.counters.get, { name: "a" })
        : await reader.query(api.counters.get, { name: "a" });
    if (read !== value) stale++;
  }
  assert.equal(stale, 0, `${stale} of ${rounds} reads were stale`);
});

test("subscriptions see states in order, and the last one", async (t) => {
  const { connect, http } = await deploy(t, FILES);
  const commits = SOAK ? 2000 : 200;
  const subscriptions = 50;
  const seen: number[][] = Array.from({ length: subscriptions }, () => []);
  const clients = Array.from({ length: 10 }, () => connect());
  seen.forEach((values, index) =>
    clients[index % clients.length]!.onUpdate(api.counters.get, { name: index < 25 ? "shared" : "other" }, (value) =>
      values.push(value as number),
    ),
  );
  for (let done = 0; done < commits; done += 4) {
    await Promise.all(Array.from({ length: 4 }, () => http.mutation(api.counters.increment)));
  }
  await eventually(() => seen.slice(0, 25).every((values) => values.at(-1) === commits));
  for (const values of seen.slice(0, 25)) {
    assert.deepEqual(
      values,
      [...values].sort((a, b) => a - b),
    );
  }
  for (const values of seen.slice(25)) assert.deepEqual(values, [0]);
});
