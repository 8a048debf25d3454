/** Module paths, functions and "use node". */

import { moduleFile, type Row } from "../harness.ts";

const MODULE_PATHS = "get-convex/convex-backend crates/sync_types/src/path.rs";
const ANALYZE = "get-convex/convex-backend crates/isolate/src/environment/analyze.rs";
const NODE = "https://docs.convex.dev/functions/runtimes#nodejs-runtime";
const ONE = "export const one = query({ args: {}, handler: async () => 1 });";

const modules: readonly Row[] = [
  {
    id: "deploy/empty",
    rule: "An app without any function can be deployed.",
    citation: "https://docs.convex.dev/cli",
    files: { "convex/readme.ts": "export const x = 1;" },
    expected: { accepts: true },
  },
  {
    id: "deploy/module-path",
    rule: "Module paths are made of letters, digits, underscores and periods.",
    citation: MODULE_PATHS,
    files: moduleFile("my_dir/Module2", ONE),
    steps: [{ call: "query", path: "my_dir/Module2:one" }],
    expected: { value: 1 },
  },
  {
    id: "deploy/module-path-dash",
    rule: "Module paths have no dashes.",
    citation: MODULE_PATHS,
    files: moduleFile("my-module", ONE),
    expected: {
      rejects:
        /^my-module\.js is not a valid path to a Convex module\. Path component my-module\.js can only contain alphanumeric characters, underscores, or periods\./,
      code: "InvalidConfig",
    },
  },
  {
    id: "deploy/module-path-long",
    rule: "A component of a module path has at most 64 characters.",
    citation: MODULE_PATHS,
    files: moduleFile("m".repeat(62), ONE),
    expected: { rejects: "Path component is too long (65 > maximum 64).", code: "InvalidConfig" },
  },
  {
    id: "deploy/module-path-css",
    rule: "What is no JavaScript is no module: the bundler pushes style sheets, too.",
    citation: MODULE_PATHS,
    files: {
      ...moduleFile("m", `import "./m.css"; ${ONE}`),
      "convex/m.css": "export const x = ({}), end = function () { a: 1; }",
    },
    expected: {
      rejects: "m.css is not a valid path to a Convex module. Module path (m.css) has an extension that isn't 'js'.",
      code: "InvalidConfig",
    },
  },
  {
    id: "deploy/two-dots-ignored",
    rule: "Files with two dots are no modules, so test files may stand beside functions.",
    citation: "npm convex/src/bundler/index.ts",
    files: { ...moduleFile("m", ONE), "convex/m.test.ts": 'throw new Error("never loaded");' },
    expected: { accepts: true },
  },
  {
    id: "deploy/top-level-await",
    rule: "Modules do not await at the top level.",
    citation: "get-convex/convex-backend crates/isolate/src/environment/helpers/module_loader.rs",
    files: moduleFile(
      "m",
      "const x = await Promise.resolve(2);\nexport const two = query({ args: {}, handler: async () => x });",
    ),
    expected: { rejects: "Uncaught Error: Top-level awaits in source files are unsupported", code: "InvalidModules" },
  },
  {
    id: "deploy/plain-exports",
    rule: "Exports that are no Convex functions are left alone.",
    citation: ANALYZE,
    files: moduleFile("m", `export const helper = () => 1; export const LIMIT = 3; export class X {}\n${ONE}`),
    steps: [{ call: "query", path: "m:one" }],
    expected: { value: 1 },
  },
  {
    id: "deploy/default-function",
    rule: "A default export is called by the module's name.",
    citation: "https://docs.convex.dev/functions/query-functions#query-names",
    files: moduleFile("m", "export default query({ args: {}, handler: async () => 7 });"),
    steps: [{ call: "query", path: "m" }],
    expected: { value: 7 },
  },
  {
    id: "deploy/throws-at-import",
    rule: "A module that throws while it loads is refused, with its place in the source.",
    citation: ANALYZE,
    files: moduleFile("m", 'throw new Error("at import");'),
    expected: {
      rejects:
        /Hit an error while pushing:\nLoading the pushed modules encountered the following\n {4}error:\nFailed to analyze m\.js: Uncaught Error: at import\n {4}at .*m\.ts:5:\d+/,
      code: "InvalidModules",
    },
  },
  {
    id: "deploy/syntax-error",
    rule: "A syntax error is reported by the bundler with file and line.",
    citation: "npm convex/src/bundler/index.ts",
    files: { "convex/m.ts": "export const x = ;" },
    expected: { rejects: /m\.ts:1:1\d/, code: "Bundle" },
  },
  {
    id: "deploy/missing-import",
    rule: "An import of a file that does not exist is reported by the bundler.",
    citation: "npm convex/src/bundler/index.ts",
    files: { "convex/m.ts": 'import "./nope";' },
    expected: { rejects: 'Could not resolve "./nope"', code: "Bundle" },
  },
  {
    id: "deploy/database-at-import",
    rule: "Functions cannot call Convex while their module loads.",
    citation: ANALYZE,
    files: moduleFile("m", '(globalThis as any).Convex.syscall("1.0/queryStream", "{}");'),
    expected: { rejects: "Failed to analyze m.js", code: "InvalidModules" },
  },
];

const functions: readonly Row[] = [
  {
    id: "deploy/function-name-dollar",
    rule: "Function names are identifiers.",
    citation: "get-convex/convex-backend crates/sync_types/src/identifier.rs",
    files: moduleFile("m", "export const $q = query({ args: {}, handler: async () => 1 });"),
    expected: { rejects: "Invalid first character '$' in $q", code: "InvalidFunctionName" },
  },
  {
    id: "deploy/args-not-object",
    rule: "The arguments of a function are an object or any.",
    citation: "get-convex/convex-backend crates/model/src/modules/function_validators.rs",
    files: moduleFile("m", "export const q = query({ args: v.string() as any, handler: async () => 1 });"),
    expected: { rejects: "Args validator must be an object or any", code: "InvalidModules" },
  },
  {
    id: "deploy/args-record-literals",
    rule: "A record in arguments has no literal keys.",
    citation: "get-convex/convex-backend crates/common/src/schemas/json.rs",
    files: moduleFile(
      "m",
      'export const q = query({ args: { r: v.record(v.literal("a") as any, v.number()) }, handler: async () => 1 });',
    ),
    expected: { rejects: "Records cannot have string literal keys", code: "InvalidModules" },
  },
  {
    id: "deploy/args-object-validator",
    rule: "The arguments of a function may be given as `v.object`.",
    citation: "https://docs.convex.dev/functions/validation",
    files: moduleFile(
      "m",
      "export const q = query({ args: v.object({ n: v.number() }), handler: async (_ctx, { n }) => n + 1 });",
    ),
    steps: [{ call: "query", path: "m:q", args: { n: 1 } }],
    expected: { value: 2 },
  },
];

const node: readonly Row[] = [
  {
    id: "deploy/node-action",
    rule: 'A "use node" module may import Node\'s builtins in actions.',
    citation: NODE,
    files: {
      "convex/n.ts":
        '"use node";\nimport { createHash } from "node:crypto";\nimport { action } from "./_generated/server";\nexport const hash = action({ args: {}, handler: async () => createHash("sha1").update("x").digest("hex").slice(0, 4) });',
    },
    steps: [{ call: "action", path: "n:hash" }],
    expected: { value: "11f6" },
  },
  {
    id: "deploy/node-query",
    rule: 'A "use node" module defines only actions.',
    citation: NODE,
    files: {
      "convex/n.ts":
        '"use node";\nimport { query } from "./_generated/server";\nexport const q = query({ args: {}, handler: async () => 1 });',
    },
    expected: {
      rejects:
        "`q` defined in `n.js` is a Query function. Only actions can be defined in Node.js. See https://docs.convex.dev/functions/actions for more details.",
      code: "InvalidModules",
    },
  },
  {
    id: "deploy/node-mutation",
    rule: 'A "use node" module defines no mutations, internal ones included.',
    citation: NODE,
    files: {
      "convex/n.ts":
        '"use node";\nimport { internalMutation } from "./_generated/server";\nexport const f = internalMutation({ args: {}, handler: async () => {} });',
    },
    expected: { rejects: "`f` defined in `n.js` is a Mutation function.", code: "InvalidModules" },
  },
  {
    id: "deploy/builtin-without-node",
    rule: 'Node\'s builtins need "use node".',
    citation: NODE,
    files: { "convex/m.ts": 'import { readFileSync } from "node:fs";\nexport const x = readFileSync;' },
    expected: { rejects: /node:fs/, code: "Bundle" },
  },
  {
    id: "deploy/http-node",
    rule: 'http.ts cannot be "use node".',
    citation: "npm convex/src/bundler/index.ts",
    files: {
      "convex/http.ts": '"use node";\nimport { httpRouter } from "convex/server";\nexport default httpRouter();',
    },
    expected: { rejects: '"use node" directive is not allowed for http.ts.', code: "Bundle" },
  },
  {
    id: "deploy/crons-node",
    rule: 'crons.ts cannot be "use node".',
    citation: "npm convex/src/bundler/index.ts",
    files: { "convex/crons.ts": '"use node";\nimport { cronJobs } from "convex/server";\nexport default cronJobs();' },
    expected: { rejects: '"use node" directive is not allowed for crons.ts.', code: "Bundle" },
  },
];

export const rows: readonly Row[] = [...modules, ...functions, ...node];
