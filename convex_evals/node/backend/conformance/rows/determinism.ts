/** What queries and mutations can know and reach, and what the default runtime offers. */

import { moduleFile, type Expected, type Row } from "../harness.ts";

const UDF = "get-convex/convex-backend crates/isolate/src/environment/udf/mod.rs";
const RUNTIME_MISC = "get-convex/convex-backend npm-packages/udf-runtime/src/00_misc.ts";
const RUNTIMES = "https://docs.convex.dev/functions/runtimes";
const NOT_ALLOWED = (what: string): Expected => ({
  rejects: `Can't use ${what} in queries and mutations. Please consider using an action. See https://docs.convex.dev/functions/actions for more details.`,
});

function bodyRow(
  kind: "query" | "mutation" | "action",
  id: string,
  rule: string,
  citation: string,
  body: string,
  expected: Expected,
): Row {
  const files = moduleFile(
    "m",
    `let loads = 0; loads++;\nexport const run = ${kind}({ args: {}, handler: async (ctx: any): Promise<any> => {\n${body}\n} });`,
  );
  return { id: `determinism/${id}`, rule, citation, files, steps: [{ call: kind, path: "m:run" }], expected };
}

const refused: readonly Row[] = [
  bodyRow(
    "query",
    "fetch",
    "Queries cannot fetch.",
    UDF,
    'await fetch("https://example.com");',
    NOT_ALLOWED("fetch()"),
  ),
  bodyRow(
    "mutation",
    "fetch-mutation",
    "Mutations cannot fetch.",
    UDF,
    'await fetch("https://example.com");',
    NOT_ALLOWED("fetch()"),
  ),
  bodyRow(
    "query",
    "timeout",
    "Queries have no timers.",
    UDF,
    "await new Promise((resolve) => setTimeout(resolve, 1));",
    NOT_ALLOWED("setTimeout"),
  ),
  bodyRow(
    "mutation",
    "interval",
    "Mutations have no timers.",
    UDF,
    "setInterval(() => {}, 1);",
    NOT_ALLOWED("setInterval"),
  ),
  bodyRow(
    "mutation",
    "generate-key",
    "Keys are not generated in mutations.",
    UDF,
    'await crypto.subtle.generateKey({ name: "AES-GCM", length: 128 }, true, ["encrypt"]);',
    NOT_ALLOWED("cryptographic randomness"),
  ),
  bodyRow("query", "eval", "Code is not made from strings.", RUNTIMES, 'return eval("1 + 1");', {
    rejects: /EvalError|Code generation from strings disallowed/,
  }),
  bodyRow(
    "action",
    "new-function",
    "Actions cannot make code from strings either.",
    RUNTIMES,
    'return new Function("return 1")();',
    { rejects: /EvalError|Code generation from strings disallowed/ },
  ),
  bodyRow(
    "query",
    "buffer",
    "There is no Buffer outside of Node.js.",
    RUNTIMES,
    'return (globalThis as any).Buffer.from("x");',
    { rejects: "Uncaught TypeError" },
  ),
  bodyRow(
    "action",
    "require",
    "There is no require outside of Node.js.",
    RUNTIMES,
    'return (globalThis as any).require("fs");',
    { rejects: "Uncaught TypeError" },
  ),
  bodyRow(
    "query",
    "process",
    "Of `process` there is only the environment.",
    RUNTIMES,
    "return (process as any).exit(1);",
    { rejects: "Uncaught TypeError" },
  ),
  bodyRow(
    "query",
    "storage-store",
    "Queries store no files.",
    "https://docs.convex.dev/file-storage/store-files",
    'return await ctx.storage.store(new Blob(["x"]));',
    { rejects: /is not a function|Can't use storage\.store\(\)/ },
  ),
  bodyRow(
    "query",
    "query-writes",
    "Queries cannot write.",
    "https://docs.convex.dev/functions/query-functions",
    'await ctx.db.insert("t", {});',
    { rejects: "is not a function" },
  ),
  bodyRow(
    "action",
    "action-db",
    "Actions have no database.",
    "https://docs.convex.dev/functions/actions",
    'await ctx.db.query("t").collect();',
    { rejects: "Uncaught TypeError" },
  ),
];

const accepted: readonly Row[] = [
  bodyRow(
    "query",
    "clock",
    "The clock stands still during a query.",
    RUNTIMES,
    "const before = Date.now(); let sum = 0; for (let i = 0; i < 5e6; i++) sum += i; return [Date.now() === before, new Date().getTime() === before, sum > 0, new Date(0).getTime(), new Date() instanceof Date, typeof Date()];",
    { value: [true, true, true, 0, true, "string"] },
  ),
  bodyRow(
    "mutation",
    "clock-mutation",
    "The clock of a mutation is near the real one.",
    RUNTIMES,
    `return Math.abs(Date.now() - ${Date.now()}) < 3600000;`,
    { value: true },
  ),
  bodyRow(
    "query",
    "random",
    "Math.random works, and is seeded per execution.",
    RUNTIMES,
    "const values = [Math.random(), Math.random()]; return [values.every((value) => value >= 0 && value < 1), values[0] !== values[1]];",
    { value: [true, true] },
  ),
  bodyRow(
    "mutation",
    "uuid",
    "crypto.randomUUID works in mutations.",
    "get-convex/convex-backend crates/isolate/src/ops/crypto/mod.rs",
    "const id = crypto.randomUUID(); return [/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(id), id !== crypto.randomUUID()];",
    { value: [true, true] },
  ),
  bodyRow(
    "query",
    "random-values",
    "crypto.getRandomValues works in queries.",
    "get-convex/convex-backend crates/isolate/src/ops/crypto/mod.rs",
    "const bytes = crypto.getRandomValues(new Uint8Array(32)); return new Set(bytes).size > 8;",
    { value: true },
  ),
  bodyRow(
    "query",
    "digest",
    "Digests are deterministic, and work.",
    "get-convex/convex-backend crates/isolate/src/ops/crypto/mod.rs",
    'return new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode("abc")))[0];',
    { value: 0xba },
  ),
  bodyRow(
    "query",
    "hmac",
    "So do message authentication codes.",
    "get-convex/convex-backend crates/isolate/src/ops/crypto/mod.rs",
    'const key = await crypto.subtle.importKey("raw", new Uint8Array(16), { name: "HMAC", hash: "SHA-256" }, false, ["sign"]); return (await crypto.subtle.sign("HMAC", key, new Uint8Array(1))).byteLength;',
    { value: 32 },
  ),
  bodyRow(
    "query",
    "web-apis",
    "The default runtime has the web's encoders, URLs and clones.",
    RUNTIMES,
    'return [btoa("a"), atob("YQ=="), new URL("/b?c=1", "https://a").searchParams.get("c"), structuredClone({ a: [1] }), new TextDecoder().decode(new TextEncoder().encode("é"))];',
    { value: ["YQ==", "a", "1", { a: [1] }, "é"] },
  ),
  bodyRow(
    "action",
    "timers",
    "Actions have timers.",
    RUNTIMES,
    'const id = setTimeout(() => {}, 1e6); clearTimeout(id); return [await new Promise((resolve) => setTimeout(resolve, 1, "late")), typeof id];',
    { value: ["late", "number"] },
  ),
  bodyRow(
    "action",
    "generate-key-action",
    "Actions generate keys.",
    RUNTIMES,
    'return (await crypto.subtle.generateKey({ name: "AES-GCM", length: 128 }, true, ["encrypt"])).type;',
    { value: "secret" },
  ),
  bodyRow(
    "action",
    "action-clock",
    "The clock of an action runs.",
    RUNTIMES,
    "const before = Date.now(); await new Promise((resolve) => setTimeout(resolve, 20)); return Date.now() > before;",
    { value: true },
  ),
  {
    id: "determinism/environment",
    rule: "Functions see the deployment's variables and the two of Convex, and nothing else.",
    citation: "https://docs.convex.dev/production/environment-variables",
    files: moduleFile(
      "m",
      "export const run = query({ args: {}, handler: async () => [process.env.MINE, typeof process.env.CONVEX_CLOUD_URL, typeof process.env.CONVEX_SITE_URL, process.env.HOME ?? null, process.env.PATH ?? null] });",
    ),
    options: { env: { MINE: "1" } },
    steps: [{ call: "query", path: "m:run" }],
    expected: { value: ["1", "string", "string", null, null] },
  },
  {
    id: "determinism/environment-by-name",
    rule: "Variables are found by their names; nothing lists them, and none can be set.",
    citation: RUNTIME_MISC,
    files: moduleFile(
      "m",
      'export const run = query({ args: {}, handler: async () => { const before = Object.keys({ ...process.env }); (process.env as any).MINE = "2"; return [before, process.env.MINE]; } });',
    ),
    options: { env: { MINE: "1" } },
    steps: [{ call: "query", path: "m:run" }],
    expected: { value: [[], "1"] },
  },
  bodyRow(
    "action",
    "console",
    "`console` has the methods of Convex's, and no others.",
    "get-convex/convex-backend npm-packages/udf-runtime/src/02_console.ts",
    "return Object.keys(console).sort();",
    { value: ["debug", "error", "info", "log", "time", "timeEnd", "timeLog", "trace", "warn"] },
  ),
  bodyRow(
    "action",
    "absent",
    "What Convex's runtime lacks of the web is absent.",
    "get-convex/convex-backend npm-packages/udf-runtime/src/setup.ts",
    'return ["MessageChannel", "MessagePort", "BroadcastChannel", "CompressionStream", "DecompressionStream", "WebSocket", "Worker", "localStorage", "queueMicrotask", "setImmediate", "global"].filter((name) => name in globalThis);',
    { value: [] },
  ),
  {
    id: "determinism/async-local-storage",
    rule: "The default runtime has AsyncLocalStorage, as a module of Node's and as a global.",
    citation: "get-convex/convex-backend npm-packages/udf-runtime/src/04_async_hooks.ts",
    files: moduleFile(
      "m",
      `import { AsyncLocalStorage, AsyncResource } from "node:async_hooks";
const storage = new AsyncLocalStorage<string>();
export const run = query({ args: {}, handler: async () => await storage.run("inside", async () => { await null; const bound = AsyncResource.bind(() => storage.getStore()); return [storage.getStore(), storage.exit(() => storage.getStore() ?? null), storage.run("deeper", bound), AsyncLocalStorage === (globalThis as any).AsyncLocalStorage]; }) });`,
    ),
    steps: [{ call: "query", path: "m:run" }],
    expected: { value: ["inside", null, "inside", true] },
  },
  {
    id: "determinism/environment-at-load",
    rule: "A variable that is set after the push is seen by modules that read it when they are loaded.",
    citation: "get-convex/convex-backend crates/isolate/src/environment/udf/phase.rs",
    files: moduleFile(
      "m",
      "const late = process.env.LATE;\nexport const run = query({ args: {}, handler: async () => late ?? null });",
    ),
    steps: [
      { call: "query", path: "m:run" },
      { setEnv: "LATE", value: "now" },
      { call: "query", path: "m:run" },
    ],
    expected: { value: "now" },
  },
  {
    id: "determinism/node",
    rule: '"use node" actions have Node.js.',
    citation: `${RUNTIMES}#nodejs-runtime`,
    files: {
      "convex/n.ts":
        '"use node";\nimport { createHash } from "node:crypto";\nimport { action } from "./_generated/server";\nexport const run = action({ args: {}, handler: async () => [Buffer.from("a").toString("hex"), createHash("sha1").update("a").digest("hex").length, typeof process.version] });',
    },
    steps: [{ call: "action", path: "n:run" }],
    expected: { value: ["61", 40, "string"] },
  },
];

export const rows: readonly Row[] = [...refused, ...accepted];
