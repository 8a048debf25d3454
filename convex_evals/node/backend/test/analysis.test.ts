/** What a push says of an app's functions, where the app's code has changed the language's own objects before it is looked at. */
import assert from "node:assert/strict";
import { describe, test, type TestContext } from "node:test";
import { anyApi } from "convex/server";
import { deploy, emptyBackend, makeProject, push, startPush } from "./harness.ts";

interface Listed {
  readonly identifier?: string;
  readonly functionType: string;
  readonly visibility?: { readonly kind: string };
}

const TASKS = `
import { action, internalMutation, mutation, query } from "./_generated/server"; import { v } from "convex/values";
export const wipe = mutation({ args: { id: v.string() }, returns: v.null(), handler: async () => null });
export const inner = internalMutation({ args: {}, returns: v.null(), handler: async () => null });
export const list = query({ args: {}, returns: v.string(), handler: async () => "listed" });
export const act = action({ args: {}, returns: v.null(), handler: async () => null });
`;
const FUNCTIONS = ["act: public Action", "inner: internal Mutation", "list: public Query", "wipe: public Mutation"];

/** What code at the top of a module may do, which the module of the functions shares a context with. */
const CHANGES: Readonly<Record<string, string>> = {
  "toJSON of all objects": `
    Object.prototype.toJSON = function () {
      if (this.visibility) return { ...this, visibility: { kind: "internal" } };
      return "value" in this && typeof this.value === "string" ? { value: '{"functions":[],"crons":"{}"}' } : this;
    };
    Array.prototype.toJSON = function () { return []; };`,
  "methods of arrays": `
    for (const name of ["map", "flatMap", "filter", "concat", "join", "slice", "sort", "push", "forEach", Symbol.iterator]) {
      Array.prototype[name] = function () { return name === Symbol.iterator ? { next: () => ({ done: true }) } : []; };
    }`,
  "elements of arrays": `
    for (const at of [0, 1, 2, 3]) Object.defineProperty(Array.prototype, at, { set() {}, get: () => "lie" });`,
  "functions of Object and Reflect": `
    for (const name of ["entries", "keys", "getOwnPropertyNames", "create", "hasOwn", "assign", "fromEntries"]) Object[name] = () => [];
    Object.defineProperty = (object) => object;
    Reflect.ownKeys = () => [];
    Reflect.apply = () => "{}";`,
  "properties that descriptors lack": `
    Object.prototype.value = "lie";
    Object.prototype.writable = true;`,
  "fields that modules lack": `
    Object.prototype.failure = { error: new Error("lie") };
    Object.prototype.namespace = {};`,
  "methods of maps": `
    Map.prototype.get = () => undefined;
    Map.prototype.has = () => false;
    Map.prototype.set = function () { return this; };`,
  promises: `
    const { then } = Promise.prototype;
    Promise.prototype.then = function (done, failed) {
      return then.call(this, (value) => done?.(typeof value === "string" ? '{"functions":[],"crons":"{}"}' : value), failed);
    };
    Object.defineProperty(Promise.prototype, "constructor", { get: () => class {} });`,
  "JSON and String": `
    JSON.stringify = () => '{"type":"any"}';
    JSON.parse = () => ({});
    globalThis.String = () => "lie";`,
  "calls of functions": `
    Function.prototype.call = () => "lie";
    Function.prototype.apply = () => "lie";
    Function.prototype.bind = () => () => "lie";`,
};

/** What is done to the functions themselves. */
const OWN: Readonly<Record<string, string>> = {
  "a mark that reads as false": 'Object.defineProperty(wipe, "isPublic", { get: () => false });',
  "a mark that changes its mind": `
    let reads = 0;
    Object.defineProperty(wipe, "isPublic", { get: () => reads++ > 0 });
    Object.defineProperty(wipe, "isMutation", { get: () => reads++ % 2 === 0 });`,
};

async function listed(t: TestContext, files: Record<string, string>): Promise<string[]> {
  const { admin } = await deploy(t, files);
  const all = (await admin.query(anyApi["_system/cli/modules"]!["apiSpec"]!, {})) as Listed[];
  const ofTasks = all.filter(({ identifier }) => identifier?.startsWith("tasks.js:"));
  return ofTasks
    .map(({ identifier, functionType, visibility }) => `${identifier!.slice(9)}: ${visibility?.kind} ${functionType}`)
    .sort();
}

describe("functions are listed as they are", () => {
  test("where nothing is changed", async (t) => {
    assert.deepEqual(await listed(t, { "convex/tasks.ts": TASKS }), FUNCTIONS);
  });
  for (const [what, code] of Object.entries(CHANGES)) {
    test(`with other ${what}, changed before they were made`, async (t) => {
      const change = `// @ts-nocheck\nexport {};\n${code}\n`;
      const files = { "convex/a.ts": change, "convex/tasks.ts": TASKS };
      // The library, too, makes texts of validators: in Convex, such an app may fail as well.
      const project = makeProject(t, files);
      const backend = await emptyBackend(t);
      const started = await startPush(backend, project);
      if (started.status === 200) assert.deepEqual(await listed(t, files), FUNCTIONS);
      else assert.match(String(started.body["message"]), /Loading the pushed modules encountered/);
    });
    test(`with other ${what}, changed after that`, async (t) => {
      assert.deepEqual(await listed(t, { "convex/tasks.ts": `${TASKS}${code}` }), FUNCTIONS);
    });
  }
  for (const [what, code] of Object.entries(OWN)) {
    test(`with ${what}`, async (t) => {
      assert.deepEqual(await listed(t, { "convex/tasks.ts": `${TASKS}${code}` }), FUNCTIONS);
    });
  }
});

test("functions for Node.js are listed as they are, whatever they say of all objects", async (t) => {
  const code = `"use node";
    import { action, internalAction } from "./_generated/server";
    export const act = action({ args: {}, handler: async () => null });
    export const inner = internalAction({ args: {}, handler: async () => null });
    Object.prototype.toJSON = function () {
      if (this.outcome) return { ...this, outcome: { value: '{"functions":[]}' } };
      return this.kind === "public" ? { kind: "internal" } : this;
    };
    Array.prototype.map = Array.prototype.flatMap = Array.prototype.filter = () => [];
    Object.entries = Reflect.ownKeys = () => [];`;
  assert.deepEqual(await listed(t, { "convex/tasks.ts": code }), ["act: public Action", "inner: internal Action"]);
});

describe("what cannot be read is refused", () => {
  const REFUSED: Readonly<Record<string, [code: string, message: RegExp]>> = {
    "arguments that are no text": ["wipe.exportArgs = () => ({});", /wipe\.exportArgs\(\) didn't return a string/],
    "arguments that are no JSON": ['wipe.exportArgs = () => "{";', /Invalid JSON returned from wipe\.exportArgs\(\)/],
    "results that are no function": ["wipe.exportReturns = 1;", /wipe\.exportReturns is not a function or `undefined`/],
    "a handler that is no function": ["wipe._handler = 1;", /wipe\.handler is not a function/],
    "a module that fails, whatever it says of it": [
      'Object.prototype.toJSON = () => ({ value: "{}" }); throw new Error("no");',
      /Failed to analyze tasks\.js: Uncaught Error: no/,
    ],
  };
  for (const [what, [code, message]] of Object.entries(REFUSED)) {
    test(what, async (t) => {
      const backend = await emptyBackend(t);
      const { status, body } = await push(backend, makeProject(t, { "convex/tasks.ts": `${TASKS}${code}` }));
      assert.equal(status, 400);
      assert.match(String(body["message"]), message);
    });
  }
  test("a function that exports no validators takes anything", async (t) => {
    const code = "delete wipe.exportArgs; delete wipe.exportReturns;";
    const { http } = await deploy(t, { "convex/tasks.ts": `${TASKS}${code}` });
    assert.equal(await http.mutation(anyApi["tasks"]!["wipe"]!, { anything: 1 }), null);
  });
});

test("of tables of one name that a schema exports, the last counts", async (t) => {
  const schema = `
    import { defineSchema, defineTable } from "convex/server"; import { v } from "convex/values";
    const schema: any = defineSchema({ t: defineTable({ a: v.string() }) });
    const { tables, ...rest } = JSON.parse(schema.export());
    schema.export = () => JSON.stringify({ tables: [{ ...tables[0], documentType: { type: "any" } }, ...tables], ...rest });
    export default schema;`;
  const { admin } = await deploy(t, { "convex/schema.ts": schema, "convex/tasks.ts": TASKS });
  const { active } = (await admin.query(anyApi["_system/frontend/getSchemas"]!["default"]!, {})) as { active: string };
  const { tables } = JSON.parse(active) as { tables: { tableName: string; documentType: { type: string } }[] };
  assert.deepEqual(
    tables.map(({ tableName, documentType }) => [tableName, documentType.type]),
    [["t", "object"]],
  );
});
