import assert from "node:assert/strict";
import { test } from "node:test";
import { api, deploy, errorOf, MESSAGES, MESSAGES_SCHEMA, post } from "./harness.ts";

const FUNCTIONS = `
import { query, mutation, action, internalQuery } from "./_generated/server";
import { internal } from "./_generated/api";
import { v, ConvexError } from "convex/values";

export const echo = query({ args: { value: v.any() }, handler: async (_ctx, { value }) => value });
export const typed = query({
  args: { name: v.string(), size: v.optional(v.number()), kind: v.union(v.literal("a"), v.literal("b")) },
  handler: async (_ctx, args) => args,
});
export const wrongReturn = mutation({
  args: {}, returns: v.string(),
  handler: async (ctx) => { await ctx.db.insert("messages", { author: "x", body: "y" }); return 1 as any; },
});
export const throws = query({ args: {}, handler: async () => { throw new Error("boom"); } });
export const throwsData = mutation({
  args: {},
  handler: async (ctx) => { await ctx.db.insert("messages", { author: "x", body: "y" }); throw new ConvexError({ code: 7n }); },
});
export const secret = internalQuery({ args: {}, handler: async () => "secret" });
export const viaAction = action({ args: {}, handler: async (ctx) => await ctx.runQuery(internal.functions.secret, {}) });
export const whoami = query({ args: {}, handler: async (ctx) => await ctx.auth.getUserIdentity() });
export const logs = query({ args: {}, handler: async () => { console.log("hello", { a: [1, "x"] }); console.warn(1n); return null; } });

export const frozenClock = query({ args: {}, handler: async () => {
  const first = Date.now();
  let spins = 0; for (let i = 0; i < 3e6; i++) spins += i;
  return { same: first === Date.now() && new Date().getTime() === first, instance: new Date() instanceof Date, spins };
} });
export const random = query({ args: {}, handler: async () => [Math.random(), Math.random()] });
export const fetches = query({ args: {}, handler: async () => { await fetch("http://127.0.0.1:1/"); } });
export const evaluates = query({ args: {}, handler: async () => { return new Function("return 1")(); } });
export const nodeGlobals = query({ args: {}, handler: async () => ({
  Buffer: typeof (globalThis as any).Buffer, require: typeof (globalThis as any).require, env: [process.env.MY_SETTING, process.env.HOME ?? null],
}) });
export const urlError = action({ args: {}, handler: async () => { try { new URL("nope"); } catch (e) { return e instanceof Error && e instanceof TypeError; } } });
export const dangling = mutation({ args: {}, handler: async (ctx) => {
  void Promise.resolve().then(() => new Promise((r) => void Promise.resolve().then(() => r(0)))).then(async () => {
    for (let i = 0; i < 50; i++) await null;
    await ctx.db.insert("messages", { author: "late", body: "" }).catch(() => {});
  });
  return null;
} });
export const badTable = mutation({ args: {}, handler: async (ctx) => { await ctx.db.insert("messages", { author: 1 } as any); } });
`;

const FILES = { "convex/schema.ts": MESSAGES_SCHEMA, "convex/messages.ts": MESSAGES, "convex/functions.ts": FUNCTIONS };

test("a query that never settles is ended, and others go on", async (t) => {
  const source =
    'import { query } from "./_generated/server"; export const hang = query({ args: {}, handler: async () => { await new Promise(() => {}); } });';
  const { http } = await deploy(t, { ...FILES, "convex/hang.ts": source }, { limits: { transactionMs: 100 } });
  const hanging = errorOf(() => http.query(api.hang.hang));
  const other = http.query(api.messages.list);
  assert.match((await hanging).message, /Returned promise will never resolve/);
  assert.deepEqual(await other, []);
});

test("search", async (t) => {
  const { http } = await deploy(t, {
    "convex/schema.ts": `
      import { defineSchema, defineTable } from "convex/server"; import { v } from "convex/values";
      export default defineSchema({ docs: defineTable({ text: v.string(), tag: v.string(), vector: v.array(v.float64()) })
        .searchIndex("by_text", { searchField: "text", filterFields: ["tag"] }).vectorIndex("by_vector", { vectorField: "vector", dimensions: 2, filterFields: ["tag"] }) });`,
    "convex/docs.ts": `
      import { query, mutation, action } from "./_generated/server"; import { v } from "convex/values";
      export const add = mutation({ args: { text: v.string(), tag: v.string(), vector: v.array(v.float64()) }, handler: async (ctx, args) => await ctx.db.insert("docs", args) });
      export const find = query({ args: { q: v.string(), tag: v.string() }, handler: async (ctx, { q, tag }) => (await ctx.db.query("docs").withSearchIndex("by_text", (s) => s.search("text", q).eq("tag", tag)).collect()).map((d) => d.text) });
      export const wrongField = query({ args: {}, handler: async (ctx) => await ctx.db.query("docs").withSearchIndex("by_text", (s: any) => s.search("text", "x").eq("text", "y")).collect() });
      export const near = action({ args: { vector: v.array(v.float64()) }, handler: async (ctx, { vector }) => (await ctx.vectorSearch("docs", "by_vector", { vector, limit: 2, filter: (q) => q.eq("tag", "a") })).map((r) => r._score) });`,
  });
  for (const [text, tag, vector] of [
    ["the quick fox", "a", [1, 0]],
    ["a slow fox", "b", [0, 1]],
    ["quicksand", "a", [0.6, 0.8]],
  ] as const) {
    await http.mutation(api.docs.add, { text, tag, vector: [...vector] });
  }
  assert.deepEqual(await http.query(api.docs.find, { q: "quick", tag: "a" }), ["the quick fox", "quicksand"]);
  assert.deepEqual(await http.query(api.docs.find, { q: "fox", tag: "b" }), ["a slow fox"]);
  assert.match((await errorOf(() => http.query(api.docs.wrongField))).message, /isn't indexed for filtering/);
  assert.deepEqual(await http.action(api.docs.near, { vector: [1, 0] }), [1, 0.6]);
  assert.match((await errorOf(() => http.action(api.docs.near, { vector: [1] }))).message, /dimensions/);
});

test("functions over HTTP", async (t) => {
  const { http, admin, backend } = await deploy(t, FILES, { env: { MY_SETTING: "on" } });
  const f = api.functions!;

  await t.test("values of every type survive the round trip", async () => {
    const value = {
      big: 2n ** 62n,
      bytes: new Uint8Array([1, 255]).buffer,
      nan: NaN,
      zero: -0,
      list: [null, true, "é"],
      nested: { a: {} },
    };
    assert.deepEqual(await http.query(f.echo, { value }), value);
  });

  await t.test("arguments are validated in Convex's words", async () => {
    const missing = await errorOf(() => http.query(f.typed, { kind: "a" }));
    assert.match(
      missing.message,
      /^\[Request ID: [0-9a-f]{16}\] Server Error\nArgumentValidationError: Object is missing the required field `name`\. Consider wrapping the field validator in `v\.optional\(\.\.\.\)` if this is expected\.\n\nObject: \{kind: "a"\}\nValidator: v\.object\(\{kind: v\.union\(v\.literal\("a"\), v\.literal\("b"\)\), name: v\.string\(\), size: v\.optional\(v\.float64\(\)\)\}\)/,
    );
    const wrong = await errorOf(() => http.query(f.typed, { name: 1, kind: "a" }));
    assert.match(
      wrong.message,
      /Value does not match validator\.\nPath: \.name\nValue: 1\.0\nValidator: v\.string\(\)/,
    );
    const extra = await errorOf(() => http.query(f.typed, { name: "", kind: "b", more: true }));
    assert.match(extra.message, /Object contains extra field `more` that is not in the validator/);
    assert.deepEqual(await http.query(f.typed, { name: "x", kind: "b" }), { name: "x", kind: "b" });
  });

  await t.test("a mutation that fails or returns the wrong type leaves nothing behind", async () => {
    const before = ((await http.query(api.messages!.list)) as unknown[]).length;
    assert.match(
      (await errorOf(() => http.mutation(f.wrongReturn))).message,
      /ReturnsValidationError: Value does not match validator/,
    );
    const failed = await errorOf(() => http.mutation(f.throwsData));
    assert.deepEqual(failed.data, { code: 7n });
    assert.match(
      (await errorOf(() => http.mutation(f.badTable))).message,
      /Failed to insert or update a document in table "messages" because it does not match the schema/,
    );
    assert.equal(((await http.query(api.messages!.list)) as unknown[]).length, before);
  });

  await t.test("errors name the function's own frames", async () => {
    assert.match(
      (await errorOf(() => http.query(f.throws))).message,
      /Server Error\nUncaught Error: boom\n {4}at handler \(\.\.\/convex\/functions\.ts:15:\d+\)/,
    );
  });

  await t.test("internal functions are hidden from clients and open to administrators", async () => {
    assert.match(
      (await errorOf(() => http.query(f.secret))).message,
      /Could not find public function for 'functions:secret'/,
    );
    assert.equal(await admin.query(f.secret), "secret");
    assert.equal(await http.action(f.viaAction), "secret");
    assert.match(
      (await errorOf(() => http.mutation(f.echo, { value: 1 }))).message,
      /Trying to execute functions\.js:echo as Mutation, but it is defined as Query/,
    );
  });

  await t.test("queries are deterministic and isolated", async () => {
    const clock = (await http.query(f.frozenClock)) as { same: boolean; instance: boolean };
    assert.deepEqual([clock.same, clock.instance], [true, true]);
    const [first, second] = (await http.query(f.random)) as [number, number];
    assert.ok(first >= 0 && first < 1 && first !== second);
    assert.match((await errorOf(() => http.query(f.fetches))).message, /Can.t use fetch\(\) in queries and mutations/);
    assert.match((await errorOf(() => http.query(f.evaluates))).message, /EvalError/);
    assert.deepEqual(await http.query(f.nodeGlobals), {
      Buffer: "undefined",
      require: "undefined",
      env: ["on", null],
    });
    assert.equal(await http.action(f.urlError), true);
  });

  await t.test("a write that nobody awaits still belongs to its mutation", async () => {
    await http.mutation(f.dangling);
    const authors = ((await http.query(api.messages!.list)) as { author: string }[]).map((message) => message.author);
    assert.equal(authors.filter((author) => author === "late").length, 1);
  });

  await t.test("console lines come back with the result", async () => {
    const answer = await post(`${backend.url}/api/query`, { path: "functions:logs", args: {}, format: "json" });
    assert.deepEqual(answer.body["logLines"], ["[LOG] 'hello' { a: [ 1, 'x' ] }", "[WARN] 1n"]);
  });

  // get-convex/convex-backend crates/local_backend/src/public_api.rs
  await t.test("a failed function is an answer with status 200, whatever the format", async () => {
    for (const format of [{}, { format: "json" }, { format: "convex_encoded_json" }]) {
      const answer = await post(`${backend.url}/api/query`, { path: "functions:nope", args: {}, ...format });
      assert.deepEqual([answer.status, answer.body["status"], "logLines" in answer.body], [200, "error", false]);
    }
    const nameless = await post(`${backend.url}/api/run/functions`, { args: {} });
    assert.deepEqual([nameless.status, nameless.body["code"]], [400, "MissingIdentifier"]);
  });

  await t.test("the identity to act as reaches the function", async () => {
    assert.equal(await http.query(f.whoami), null);
    const client = admin as unknown as { setAdminAuth(key: string, identity?: object): void };
    const { ADMIN_KEY } = await import("../versions.ts");
    client.setAdminAuth(ADMIN_KEY, { subject: "ada", issuer: "https://id", name: "Ada", email: "a@b.c" });
    assert.deepEqual(await admin.query(f.whoami), {
      subject: "ada",
      issuer: "https://id",
      tokenIdentifier: "https://id|ada",
      name: "Ada",
      email: "a@b.c",
    });
    client.setAdminAuth(ADMIN_KEY);
  });

  await t.test("malformed requests get a clean error", async () => {
    assert.equal((await post(`${backend.url}/api/query`, null)).status, 400);
    assert.equal((await post(`${backend.url}/api/query`, { path: 7 })).status, 400);
    assert.equal((await post(`${backend.url}/api/nope`, {})).status, 404);
    const broken = await fetch(`${backend.url}/api/mutation`, { method: "POST", body: "{" });
    assert.equal(broken.status, 400);
    const preflight = await fetch(`${backend.url}/api/query`, {
      method: "OPTIONS",
      headers: { origin: "http://x", "access-control-request-headers": "authorization" },
    });
    assert.deepEqual(
      [
        preflight.status,
        preflight.headers.get("access-control-allow-origin"),
        preflight.headers.get("access-control-allow-headers"),
      ],
      [204, "http://x", "authorization"],
    );
  });

  await t.test("localhost works whichever address it resolves to", async () => {
    assert.equal(await (await fetch(`http://localhost:${backend.port}/instance_name`)).text(), "carnitas");
  });
});

test("modules reach outside as the function that they are loaded for", async (t) => {
  const source = `import { query, mutation, action } from "./_generated/server";
const kept = { fetch, setTimeout, setInterval }; let atLoad = "";
void fetch("http://127.0.0.1:1/").catch((error: Error) => { atLoad = error.message; });
export const fetches = query({ args: {}, handler: async () => { await kept.fetch("http://127.0.0.1:1/"); } });
export const waits = mutation({ args: {}, handler: async () => { kept.setTimeout(() => {}, 1); } });
export const repeats = query({ args: {}, handler: async () => { kept.setInterval(() => {}, 1); } });
export const acts = action({ args: {}, handler: async () => [await Promise.resolve().then(() => atLoad), await kept.fetch("http://127.0.0.1:1/").catch((error: Error) => error.message), await new Promise((r) => kept.setTimeout(() => r("waited"), 1))] });`;
  const { http } = await deploy(t, { ...FILES, "convex/reach.ts": source });
  assert.match(
    (await errorOf(() => http.query(api.reach.fetches))).message,
    /Can't use fetch\(\) in queries and mutations/,
  );
  assert.match(
    (await errorOf(() => http.mutation(api.reach.waits))).message,
    /Can't use setTimeout in queries and mutations/,
  );
  assert.match(
    (await errorOf(() => http.query(api.reach.repeats))).message,
    /Can't use setInterval in queries and mutations/,
  );
  const [atLoad, fetched, waited] = (await http.action(api.reach.acts)) as string[];
  assert.match(atLoad!, /Can't use fetch/);
  assert.doesNotMatch(fetched!, /Can't use fetch/);
  assert.equal(waited, "waited");
});
