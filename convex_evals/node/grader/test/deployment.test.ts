/** The library against two real backends: a candidate's and an answer's. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { TestContext } from "node:test";
import { anyApi } from "convex/server";
import type { FunctionReference } from "convex/server";
import { deploy } from "../../backend/test/harness.ts";
import type { Files } from "../../backend/test/harness.ts";
import { adminClient, anonymousClient, clientAs } from "../clients.ts";
import { closeAll } from "../closing.ts";
import { siteUrl } from "../connection.ts";
import { listCrons } from "../crons.ts";
import { addDocuments, clearTables, listTable, ownFields } from "../documents.ts";
import { eventually } from "../eventually.ts";
import { expectFunctions, expectSameFunctions, listFunctions } from "../functions.ts";
import { expectError, expectNotCallable } from "../refusals.ts";
import { expectSameSchema, readSchema } from "../schema.ts";

const SCHEMA = `
  import { defineSchema, defineTable } from "convex/server";
  import { v } from "convex/values";
  export default defineSchema({ notes: defineTable({ owner: v.string(), text: v.string() }).index("by_owner", ["owner"]) });`;

const NOTES = `
  import { ConvexError, v } from "convex/values";
  import { internalMutation, mutation, query } from "./_generated/server";
  export const whoAmI = query({ args: {}, handler: async (ctx) => (await ctx.auth.getUserIdentity())?.tokenIdentifier ?? null });
  export const list = query({ args: {}, handler: (ctx) => ctx.db.query("notes").collect() });
  export const add = mutation({
    args: { text: v.string() },
    handler: async (ctx, { text }) => {
      if (text === "") throw new ConvexError({ code: "EMPTY" });
      const count = (await ctx.db.query("notes").collect()).length;
      await ctx.db.insert("notes", { owner: String(count), text });
    },
  });
  export const purge = internalMutation({ args: {}, handler: async () => "purged" });`;

const CRONS = `
  import { cronJobs } from "convex/server";
  import { internal } from "./_generated/api";
  const crons = cronJobs();
  crons.weekly("b", { dayOfWeek: "monday", hourUTC: 8, minuteUTC: 0 }, internal.notes.purge);
  crons.interval("a", { hours: 1 }, internal.notes.purge, {});
  export default crons;`;

const HTTP = `
  import { httpRouter } from "convex/server";
  import { httpAction } from "./_generated/server";
  const http = httpRouter();
  http.route({ path: "/hello", method: "GET", handler: httpAction(async () => new Response("hello")) });
  export default http;`;

const ANSWER: Files = {
  "convex/schema.ts": SCHEMA,
  "convex/notes.ts": NOTES,
  "convex/crons.ts": CRONS,
  "convex/http.ts": HTTP,
};

type Query<T> = FunctionReference<"query", "public", Record<string, never>, T>;
const notes = anyApi["notes"] as unknown as {
  whoAmI: Query<string | null>;
  list: Query<{ text: string }[]>;
  add: FunctionReference<"mutation", "public", { text: string }, null>;
  missing: FunctionReference<"mutation", "public", { text: string }, null>;
  purge: FunctionReference<"mutation", "internal", Record<string, never>, string>;
};

const undo: (() => unknown)[] = [];

async function deployed(files: Files) {
  const context = { after: (run: () => unknown) => void undo.unshift(run) } as unknown as TestContext;
  return await deploy(context, files);
}

let candidate: Awaited<ReturnType<typeof deployed>>;

before(async () => {
  candidate = await deployed(ANSWER);
  process.env["CONVEX_PORT"] = String(candidate.backend.port);
  process.env["CONVEX_SITE_PORT"] = String(candidate.backend.sitePort);
  process.env["CONVEX_ANSWER_PORT"] = String((await deployed(ANSWER)).backend.port);
});

after(async () => {
  await closeAll();
  for (const run of undo) await run();
});

test("each client calls as who it says", async () => {
  assert.equal(await anonymousClient().query(notes.whoAmI), null);
  assert.equal(
    await clientAs({ issuer: "https://a.example", subject: "ada" }).query(notes.whoAmI, {}),
    "https://a.example|ada",
  );
  assert.equal(await adminClient().mutation(notes.purge), "purged");
  await expectNotCallable(anonymousClient().mutation(notes.purge), "Clients must not be able to purge");
});

test("documents go in and out in order, and out for good", async () => {
  const documents = ["b", "a", "c"].map((text) => ({ owner: "ada", text }));
  await addDocuments("notes", documents);
  assert.deepEqual((await listTable("notes")).map(ownFields), documents);
  await assert.rejects(
    addDocuments("notes", [{ owner: 1 }]),
    /The table `notes` must accept the documents that the task describes/,
  );
  assert.equal((await listTable("notes")).length, 3);
  await clearTables("notes");
  assert.deepEqual(await listTable("notes"), []);
  assert.deepEqual(await listTable("nothing"), []);
});

test("mutations of one client really run at the same time, and none is lost", async () => {
  await clearTables("notes");
  const client = anonymousClient();
  await Promise.all(["1", "2", "3", "4"].map((text) => client.mutation(notes.add, { text })));
  assert.deepEqual(
    (await listTable("notes")).map(({ owner }) => owner),
    ["0", "1", "2", "3"],
  );
});

test("a watched query shows what other clients write", async () => {
  await clearTables("notes");
  const watch = anonymousClient().watch(notes.list);
  await eventually(() => watch.latest()?.length === 0);
  await anonymousClient().mutation(notes.add, { text: "hello" });
  await eventually(() => watch.latest()?.[0]?.text === "hello");
  assert.deepEqual(
    watch.history().map((list) => list.length),
    [0, 1],
  );
  assert.equal(watch.error(), undefined);
  watch.stop();
});

test("refusals name the function, keep the app's data, and are told from missing functions", async () => {
  const refused = await expectError(
    anonymousClient().mutation(notes.add, { text: "" }),
    "An empty text must be refused",
    { by: "code" },
  );
  assert.match(refused.message, /^The call of `notes:add` failed: /);
  assert.deepEqual((refused as Error & { data: unknown }).data, { code: "EMPTY" });
  const wrong = { text: 1 } as unknown as { text: string };
  await expectError(anonymousClient().mutation(notes.add, wrong), "A number must be refused", { by: "arguments" });
  await assert.rejects(
    expectError(anonymousClient().mutation(notes.missing, { text: "" }), "It must be refused"),
    /never reached it/,
  );
});

test("functions and crons are listed as in `api`", async () => {
  const functions = [...(await listFunctions()).values()].map(
    ({ name, type, visibility }) => `${name} ${visibility} ${type}`,
  );
  assert.deepEqual(functions.sort(), [
    "notes:add public mutation",
    "notes:list public query",
    "notes:purge internal mutation",
    "notes:whoAmI public query",
  ]);
  assert.deepEqual(await listCrons(), [
    { name: "a", function: "notes:purge", args: [{}], schedule: "every 3600 s" },
    { name: "b", function: "notes:purge", args: [{}], schedule: "at 0 8 * * 1" },
  ]);
});

test("crons of components are listed with the app's", async () => {
  const inComponent = (name: string): Files => ({
    [`convex/${name}/convex.config.ts`]: `import { defineComponent } from "convex/server"; export default defineComponent("${name}");`,
    [`convex/${name}/notes.ts`]: `import { internalMutation } from "./_generated/server"; export const purge = internalMutation({ args: {}, handler: async () => null });`,
    [`convex/${name}/crons.ts`]: CRONS.replace('"a", { hours: 1 }', '"a", { hours: 2 }'),
  });
  const other = await deployed({
    ...ANSWER,
    ...inComponent("box"),
    "convex/convex.config.ts": `import { defineApp } from "convex/server"; import box from "./box/convex.config";
      const app = defineApp(); app.use(box); app.use(box, { name: "another" }); export default app;`,
  });
  const ours = process.env["CONVEX_PORT"];
  process.env["CONVEX_PORT"] = String(other.backend.port);
  const listed = await listCrons().finally(() => (process.env["CONVEX_PORT"] = ours));
  assert.deepEqual(
    listed.map(({ name, component, schedule }) => [name, component, schedule]),
    [
      ["a", undefined, "every 3600 s"],
      ["a", "another", "every 7200 s"],
      ["a", "box", "every 7200 s"],
      ["b", undefined, "at 0 8 * * 1"],
      ["b", "another", "at 0 8 * * 1"],
      ["b", "box", "at 0 8 * * 1"],
    ],
  );
  assert.deepEqual(Object.keys(listed[0]!), ["name", "function", "args", "schedule"]);
});

test("HTTP actions are at the site's address", async () => {
  assert.equal(await (await fetch(siteUrl("/hello"))).text(), "hello");
});

test("the answer is the same as itself, and another candidate is told how it differs", async () => {
  await expectSameSchema({ indexes: "names" });
  await expectSameFunctions({ publicOnly: false, returns: true });
  await candidate.redeploy({
    "convex/schema.ts": SCHEMA.replace('.index("by_owner", ["owner"])', ""),
    "convex/notes.ts": NOTES.replace("internalMutation(", "mutation(").replace(
      "args: { text: v.string() }",
      "args: { text: v.any() }",
    ),
  });
  await assert.rejects(expectSameSchema(), /`notes` must have an index on `owner`, in this order/);
  await assert.rejects(expectSameFunctions(), /the arguments of `notes:add`: the field `text` must be string, not any/);
  await assert.rejects(
    expectFunctions({ "notes:purge": { type: "mutation", visibility: "internal" } }),
    /must be registered as internal mutation/,
  );
  const loose = SCHEMA.replace(/\}\);$/, "}, { schemaValidation: false });");
  await candidate.redeploy({ "convex/schema.ts": loose, "convex/notes.ts": NOTES });
  await assert.rejects(expectSameSchema(), /documents must be held to the schema, which `schemaValidation: false`/);
  await candidate.redeploy({ "convex/notes.ts": NOTES });
  assert.equal(await readSchema(), undefined);
  await assert.rejects(expectSameSchema(), /must define a schema in `convex\/schema\.ts`/);
});
