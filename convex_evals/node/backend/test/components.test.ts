import assert from "node:assert/strict";
import { test } from "node:test";
import { api, deploy, errorOf, eventually } from "./harness.ts";

const FILES = {
  "package.json": JSON.stringify({ name: "app", dependencies: { convex: "*", "@convex-dev/aggregate": "*" } }),
  "convex/convex.config.ts": `
    import { defineApp } from "convex/server";
    import counter from "./counter/convex.config";
    import aggregate from "@convex-dev/aggregate/convex.config";
    const app = defineApp();
    app.use(counter);
    app.use(counter, { name: "second" });
    app.use(aggregate);
    export default app;`,
  "convex/counter/convex.config.ts": `
    import { defineComponent } from "convex/server";
    import inner from "./inner/convex.config";
    const component = defineComponent("counter");
    component.use(inner);
    export default component;`,
  "convex/counter/schema.ts": `
    import { defineSchema, defineTable } from "convex/server"; import { v } from "convex/values";
    export default defineSchema({ counts: defineTable({ value: v.number() }) });`,
  "convex/counter/public.ts": `
    import { query, mutation, internalMutation } from "./_generated/server"; import { v } from "convex/values";
    import { components, internal } from "./_generated/api";
    export const add = mutation({ args: { by: v.number() }, returns: v.number(), handler: async (ctx, { by }) => {
      const row = await ctx.db.query("counts").first();
      const value = (row?.value ?? 0) + by;
      if (row) await ctx.db.patch(row._id, { value }); else await ctx.db.insert("counts", { value });
      return value;
    } });
    export const get = query({ args: {}, handler: async (ctx) => (await ctx.db.query("counts").first())?.value ?? 0 });
    export const viaInner = query({ args: {}, handler: async (ctx): Promise<string> => await ctx.runQuery(components.inner.deep.hello, {}) });
    export const callBack = mutation({ args: { handle: v.string(), value: v.number() }, handler: async (ctx, { handle, value }): Promise<any> => await ctx.runMutation(handle as any, { value }) });
    export const whoami = query({ args: {}, handler: async (ctx) => await ctx.auth.getUserIdentity() });
    export const later = mutation({ args: {}, handler: async (ctx) => { await ctx.scheduler.runAfter(0, internal.public.hidden, {}); } });
    export const hidden = internalMutation({ args: {}, handler: async (ctx) => { await ctx.db.insert("counts", { value: 1000 }); } });
    export const failing = mutation({ args: {}, handler: async (ctx) => { await ctx.db.insert("counts", { value: 5 }); throw new Error("component says no"); } });`,
  "convex/counter/inner/convex.config.ts": `import { defineComponent } from "convex/server"; export default defineComponent("inner");`,
  "convex/counter/inner/deep.ts": `import { query } from "./_generated/server"; export const hello = query({ args: {}, handler: async () => "from the inner component" });`,
  "convex/schema.ts": `
    import { defineSchema, defineTable } from "convex/server"; import { v } from "convex/values";
    export default defineSchema({ log: defineTable({ value: v.number() }) });`,
  "convex/app.ts": `
    import { query, mutation, internalMutation } from "./_generated/server"; import { v } from "convex/values";
    import { components, internal } from "./_generated/api";
    import { createFunctionHandle } from "convex/server";
    import { TableAggregate } from "@convex-dev/aggregate";
    const totals = new TableAggregate<any>((components as any).aggregate, { sortKey: (d: any) => d.value, sumValue: (d: any) => d.value });
    export const add = mutation({ args: { by: v.number() }, handler: async (ctx, { by }): Promise<number[]> => [
      await ctx.runMutation(components.counter.public.add, { by }), await ctx.runMutation(components.second.public.add, { by: 10 * by }),
    ] });
    export const get = query({ args: {}, handler: async (ctx): Promise<number> => await ctx.runQuery(components.counter.public.get, {}) });
    export const deep = query({ args: {}, handler: async (ctx): Promise<string> => await ctx.runQuery(components.counter.public.viaInner, {}) });
    export const whoami = query({ args: {}, handler: async (ctx): Promise<any> => [await ctx.auth.getUserIdentity(), await ctx.runQuery(components.counter.public.whoami, {})] });
    export const record = internalMutation({ args: { value: v.number() }, handler: async (ctx, { value }) => { await ctx.db.insert("log", { value }); return value; } });
    export const handle = mutation({ args: {}, handler: async (ctx): Promise<any> => await ctx.runMutation(components.counter.public.callBack, { handle: await createFunctionHandle(internal.app.record), value: 7 }) });
    export const log = query({ args: {}, handler: async (ctx) => (await ctx.db.query("log").collect()).map((row) => row.value) });
    export const later = mutation({ args: {}, handler: async (ctx): Promise<any> => await ctx.runMutation(components.second.public.later, {}) });
    export const caught = mutation({ args: {}, handler: async (ctx): Promise<string> => { try { await ctx.runMutation(components.counter.public.failing, {}); return "?"; } catch (e: any) { return e.message; } } });
    export const total = mutation({ args: {}, handler: async (ctx) => {
      for (const value of [3, 4]) { const id = await ctx.db.insert("log", { value }); await totals.insert(ctx as any, (await ctx.db.get(id))!); }
      return [await totals.count(ctx as any), await totals.sum(ctx as any)];
    } });`,
};

test("components", async (t) => {
  const { http, admin, connect } = await deploy(t, FILES);
  const app = api.app!;

  await t.test("each instance has its own tables", async () => {
    assert.deepEqual(await http.mutation(app.add, { by: 1 }), [1, 10]);
    assert.deepEqual(await http.mutation(app.add, { by: 2 }), [3, 30]);
    assert.equal(await http.query(app.get), 3);
  });

  await t.test("components inside components, and handles back into the app", async () => {
    assert.equal(await http.query(app.deep), "from the inner component");
    assert.equal(await http.mutation(app.handle), 7);
    assert.deepEqual(await http.query(app.log), [7]);
  });

  await t.test("a failing call into a component is rolled back and can be caught", async () => {
    assert.match((await http.mutation(app.caught)) as string, /component says no/);
    assert.equal(await http.query(app.get), 3);
  });

  await t.test("the caller's identity stays in the app", async () => {
    const client = admin as unknown as { setAdminAuth(key: string, identity?: object): void };
    const { ADMIN_KEY } = await import("../versions.ts");
    client.setAdminAuth(ADMIN_KEY, { subject: "s", issuer: "i" });
    const [inApp, inComponent] = (await admin.query(app.whoami)) as [{ subject: string }, null];
    assert.deepEqual([inApp.subject, inComponent], ["s", null]);
  });

  await t.test("a component schedules its own functions", async () => {
    await http.mutation(app.later);
    const rows = await eventually(async () => {
      const found = (await admin.query(
        "_system/frontend/listTableScan" as never,
        { table: "counts", limit: 10, componentId: "second" } as never,
      )) as { value: number }[];
      return found.length === 2 ? found : null;
    });
    assert.deepEqual(
      rows.map((row) => row.value),
      [1000, 30],
    );
  });

  await t.test("a subscription through a component reacts to its tables", async () => {
    const client = connect();
    const seen: unknown[] = [];
    client.onUpdate(app.get, {}, (value) => seen.push(value));
    await eventually(() => seen.length === 1);
    await http.mutation(app.add, { by: 1 });
    await eventually(() => seen.at(-1) === 4);
  });

  await t.test("an npm component works", async () => {
    assert.deepEqual(await http.mutation(app.total), [2, 7]);
  });

  await t.test("clients cannot call into components", async () => {
    assert.match(
      (await errorOf(() => http.mutation("public:add" as never, { by: 1 } as never))).message,
      /Could not find public function/,
    );
  });
});
