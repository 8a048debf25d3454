/** What is installed and mounted, of a project that was really pushed. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test, type TestContext } from "node:test";
import { api, deploy, makeProject, startPush, type Files } from "../../backend/test/harness.ts";
import { anonymousClient } from "../clients.ts";
import { closeAll } from "../closing.ts";
import { expectComponentUsed, listComponents } from "../components.ts";
import { listCallable, listRoutes } from "../functions.ts";

const FILES: Files = {
  "package.json": JSON.stringify({ name: "app", dependencies: { convex: "*", "@convex-dev/aggregate": "*" } }),
  // What is installed stands in another folder than this file says.
  "convex.json": JSON.stringify({ functions: "backend/" }),
  "convex/convex.config.ts": `
    import { defineApp } from "convex/server";
    import limiter from "@convex-dev/rate-limiter/convex.config";
    const app = defineApp();
    app.use(limiter);
    export default app;`,
  "backend/convex.config.ts": `
    import { defineApp } from "convex/server";
    import aggregate from "@convex-dev/aggregate/convex.config";
    import type limiter from "@convex-dev/rate-limiter/convex.config";
    import outer from "./outer/convex.config";
    export type Limiter = typeof limiter;
    const app = defineApp();
    app.use(aggregate, { name: "totals" });
    app.use(outer, { httpPrefix: "/outer/" });
    export default app;`,
  "backend/outer/convex.config.ts": `
    import { defineComponent } from "convex/server";
    import aggregate from "@convex-dev/aggregate/convex.config";
    const component = defineComponent("outer");
    component.use(aggregate);
    export default component;`,
  "backend/outer/http.ts": `
    import { httpRouter } from "convex/server";
    import { httpAction } from "./_generated/server";
    const http = httpRouter();
    http.route({ path: "/inside", method: "GET", handler: httpAction(async () => new Response("inside")) });
    export default http;`,
  "backend/http.ts": `
    import { httpRouter } from "convex/server";
    import { httpAction } from "./_generated/server";
    const http = httpRouter();
    const handler = httpAction(async () => new Response("here"));
    http.route({ path: "/hello", method: "GET", handler });
    http.route({ pathPrefix: "/all/", method: "POST", handler });
    export default http;`,
  "backend/scores.ts": `
    import { DirectAggregate } from "@convex-dev/aggregate";
    import { v } from "convex/values";
    import { components } from "./_generated/api";
    import { internalMutation, mutation, query } from "./_generated/server";
    const totals = new DirectAggregate<{ Key: number; Id: string }>(components.totals);
    export const add = mutation({
      args: { key: v.number() },
      handler: async (ctx, { key }) => await totals.insert(ctx, { key, id: String(key) }),
    });
    export const byHand = mutation({ args: {}, handler: async () => null });
    export const count = query({ args: {}, handler: async (ctx) => await totals.count(ctx) });
    export const hidden = internalMutation({ args: {}, handler: async () => null });`,
};

const folder = mkdtempSync(join(tmpdir(), "facts-"));
const undo: (() => unknown)[] = [];

before(async () => {
  const context = { after: (run: () => unknown) => void undo.unshift(run) } as unknown as TestContext;
  const { backend } = await deploy(context, FILES);
  const started = await startPush(backend, makeProject(context, FILES));
  const facts = join(folder, "facts.json");
  writeFileSync(facts, JSON.stringify({ start_push: started.body["app"] }));
  process.env["CONVEX_PROJECT_FACTS"] = facts;
  process.env["CONVEX_PORT"] = String(backend.port);
});

after(async () => {
  await closeAll();
  for (const run of undo) await run();
  rmSync(folder, { recursive: true });
});

test("components are listed with their packages, those of components too, whatever other files import", () => {
  assert.deepEqual(
    [...listComponents().values()].sort((a, b) => (a.path < b.path ? -1 : 1)),
    [
      { path: "outer", package: undefined },
      { path: "outer/aggregate", package: "@convex-dev/aggregate" },
      { path: "outer/aggregate/batchWorker", package: "@convex-dev/batch-worker" },
      { path: "totals", package: "@convex-dev/aggregate" },
      { path: "totals/batchWorker", package: "@convex-dev/batch-worker" },
    ],
  );
});

test("a component is used when what it stores changes", async () => {
  const client = anonymousClient();
  const name = "@convex-dev/aggregate";
  await expectComponentUsed(name, "Adding", () => client.mutation(api.scores.add, { key: 1 }));
  await expectComponentUsed(name, "Adding", () => client.mutation(api.scores.add, { key: 2 }));
  const unused = /^Error: Adding must be kept in the component of `@convex-dev\/aggregate`/;
  await assert.rejects(
    expectComponentUsed(name, "Adding", () => client.mutation(api.scores.byHand, {})),
    unused,
  );
  await assert.rejects(
    expectComponentUsed(name, "Adding", () => client.query(api.scores.count, {})),
    unused,
  );
  await assert.rejects(
    expectComponentUsed("@convex-dev/rate-limiter", "Posting", () => client.mutation(api.scores.add, { key: 3 })),
    /^Error: The app must install the component of `@convex-dev\/rate-limiter`/,
  );
});

test("routes are listed, those of mounted components as one", () => {
  assert.deepEqual(
    listRoutes().map(({ method, path }) => `${method} ${path}`),
    ["GET /hello", "POST /all/*", "* /outer/*"],
  );
});

test("clients can call public functions and routes", async () => {
  assert.deepEqual(await listCallable(), [
    "* /outer/*",
    "GET /hello",
    "POST /all/*",
    "scores:add (mutation)",
    "scores:byHand (mutation)",
    "scores:count (query)",
  ]);
});
