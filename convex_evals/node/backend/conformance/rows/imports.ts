/** `import()` at run time, `import.meta`, and what of CommonJS a module finds. */

import { moduleFile, type Expected, type Files, type Row, type Step } from "../harness.ts";

const TESTS = "get-convex/convex-backend crates/isolate/src/tests/import.rs";
const ISOLATE = "get-convex/convex-backend crates/isolate/src/isolate.rs";
const LOADING = "get-convex/convex-backend crates/isolate/src/execution_scope.rs";
const BUNDLING = "https://docs.convex.dev/functions/bundling#dynamic-dependencies";

const UNSUPPORTED = "Uncaught TypeError: dynamic module import unsupported";

const APP: Files = {
  "convex/helpers.ts": "export let count = 0; export const next = () => ++count; export default 7;",
  "convex/throwing.ts": 'export const x = 1; if (process.env["FAIL"]) throw new Error("boom");',
  "convex/eager.ts": 'export const eager = import("./helpers"); eager.catch(() => {});',
  ...moduleFile(
    "m",
    `
import * as helpersStatic from "./helpers";
const attempt = async (name: string) => { try { return Object.keys(await import(name)); } catch (error: any) { return [error.name, error.message]; } };
export const q = query({ args: {}, handler: async () => (await import("./helpers")).next() });
export const qStatic = query({ args: {}, handler: async () => helpersStatic.next() });
export const qCaught = query({ args: {}, handler: async () => { const pending = import("./helpers"); return await pending.catch((error) => [error instanceof TypeError, error.message]); } });
export const mut = mutation({ args: {}, handler: async () => (await import("./helpers")).next() });
export const qComputed = query({ args: {}, handler: async () => await attempt("./help" + "ers.js") });
export const a = action({ args: {}, handler: async () => { const helpers = await import("./helpers"); return [helpers.next(), helpers.count, helpers.default, helpersStatic.count]; } });
export const same = action({ args: {}, handler: async () => { const [one, two] = [await import("./helpers"), await import("./" + "helpers.js")]; return [one === two, one.next === helpersStatic.next]; } });
export const namespace = action({ args: {}, handler: async () => { const one: any = await import("./helpers"); return [Object.prototype.toString.call(one), Object.getPrototypeOf(one), Object.keys(one), Object.isExtensible(one), Reflect.set(one, "count", 5), Reflect.deleteProperty(one, "next")]; } });
export const without = action({ args: {}, handler: async () => { const name = "./helpers"; const { next } = await import(name); return next(); } });
export const missing = action({ args: {}, handler: async () => await attempt("./non" + "existent") });
export const bare = action({ args: {}, handler: async () => await attempt("lod" + "ash") });
export const throwing = action({ args: {}, handler: async () => [await attempt("./throwing.js"), await attempt("./throwing.js")] });
export const nested = action({ args: {}, handler: async (ctx): Promise<any> => await ctx.runQuery(api.m.qCaught, {}) });
export const fromTop = action({ args: {}, handler: async () => Object.keys(await (await import("./eager")).eager) });
export const meta = query({ args: {}, handler: async () => { try { return typeof import.meta; } catch (error: any) { return [error instanceof TypeError, error.message]; } } });
export const metaUncaught = action({ args: {}, handler: async () => import.meta.url });
export const commonJs = query({ args: {}, handler: async () => [typeof module, typeof exports, typeof (globalThis as any).require] });
export const required = query({ args: {}, handler: async () => { const name = "./helpers.js"; return require(name); } });
`,
  ),
  ...moduleFile(
    "http",
    'const http = httpRouter(); http.route({ path: "/next", method: "GET", handler: httpAction(async () => new Response(String((await import("./helpers")).next()))) }); export default http;',
  ),
};

function row(id: string, rule: string, citation: string, step: Step, expected: Expected, rest: Partial<Row> = {}): Row {
  return { id: `imports/${id}`, rule, citation, files: APP, steps: [step], expected, ...rest };
}

const call = (kind: "query" | "mutation" | "action", name: string): Step => ({ call: kind, path: `m:${name}` });

const NODE_APP: Files = {
  "convex/helpers.ts": APP["convex/helpers.ts"]!,
  "convex/n.ts": `"use node";
import { action } from "./_generated/server";
import * as helpersStatic from "./helpers";
export const a = action({ args: {}, handler: async () => { const helpers = await import("./helpers"); return [helpers.next(), helpersStatic.count, typeof (await import("node:os")).cpus]; } });
export const meta = action({ args: {}, handler: async () => typeof import.meta.url });`,
};

export const rows: readonly Row[] = [
  row("query", "A query cannot import at run time.", TESTS, call("query", "q"), { rejects: UNSUPPORTED }),
  row("mutation", "Neither can a mutation.", BUNDLING, call("mutation", "mut"), { rejects: UNSUPPORTED }),
  row("query-catch", "The import is a promise that rejects with a TypeError.", ISOLATE, call("query", "qCaught"), {
    value: [true, "dynamic module import unsupported"],
  }),
  row("query-computed", "A computed name is no exception.", ISOLATE, call("query", "qComputed"), {
    value: ["TypeError", "dynamic module import unsupported"],
  }),
  row("query-static", "Static imports are not affected.", TESTS, call("query", "qStatic"), { value: 1 }),
  row("query-in-action", "A query that an action calls is a query.", ISOLATE, call("action", "nested"), {
    value: [true, "dynamic module import unsupported"],
  }),
  row("action", "An action may import, and gets the module that static imports got.", TESTS, call("action", "a"), {
    value: [1, 1, 7, 1],
  }),
  row("action-again", "A second import gives the same namespace.", TESTS, call("action", "same"), {
    value: [true, true],
  }),
  row("action-namespace", "What it gives is a module namespace.", LOADING, call("action", "namespace"), {
    value: ["[object Module]", null, ["count", "default", "next"], false, false, false],
  }),
  row("action-extension", "A computed name may lack `.js`.", LOADING, call("action", "without"), { value: 1 }),
  row("action-missing", "A module that is not there rejects.", TESTS, call("action", "missing"), {
    value: ["Error", "Couldn't find JavaScript module 'nonexistent'. Did you forget to run `npx convex dev`?"],
  }),
  row("action-bare", "A name without a dot leads nowhere.", LOADING, call("action", "bare"), {
    value: ["Error", 'Relative import path "lodash" not prefixed with / or ./ or ../ from "convex:/m.js"'],
  }),
  row(
    "action-throwing",
    "A module that throws rejects each time.",
    TESTS,
    call("action", "throwing"),
    {
      value: [
        ["Error", "boom"],
        ["Error", "boom"],
      ],
    },
    { steps: [{ setEnv: "FAIL", value: "1" }, call("action", "throwing")] },
  ),
  row("action-top-level", "A module of an action may import while it loads.", LOADING, call("action", "fromTop"), {
    value: ["count", "default", "next"],
  }),
  row("http-action", "An HTTP action may import.", TESTS, { request: "/next" }, { value: { status: 200, body: "1" } }),
  row("meta", "`import.meta` throws a TypeError.", ISOLATE, call("query", "meta"), {
    value: [true, "import.meta unsupported"],
  }),
  row("meta-action", "In actions too.", ISOLATE, call("action", "metaUncaught"), {
    rejects: "Uncaught TypeError: import.meta unsupported",
  }),
  row(
    "node",
    'A "use node" action may import modules and builtins.',
    BUNDLING,
    { call: "action", path: "n:a" },
    { value: [1, 1, "function"] },
    { files: NODE_APP },
  ),
  row(
    "node-meta",
    'A "use node" module has an `import.meta`.',
    "get-convex/convex-backend npm-packages/node-executor/src/executor.ts",
    { call: "action", path: "n:meta" },
    { value: "string" },
    { files: NODE_APP },
  ),
  row(
    "common-js",
    "A module has no `module` and `exports`, and `globalThis` no `require`.",
    LOADING,
    call("query", "commonJs"),
    {
      value: ["undefined", "undefined", "undefined"],
    },
  ),
  row("require", "A `require` that the bundler left throws its error.", BUNDLING, call("query", "required"), {
    rejects: 'Dynamic require of "./helpers.js" is not supported',
  }),
];
