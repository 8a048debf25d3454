/** What a push may contain: modules, functions, http, crons, components, auth. */

import { moduleFile, type Files, type Row } from "../harness.ts";

const MODULE_PATHS = "get-convex/convex-backend crates/sync_types/src/path.rs";
const ANALYZE = "get-convex/convex-backend crates/isolate/src/environment/analyze.rs";
const NODE = "https://docs.convex.dev/functions/runtimes#nodejs-runtime";
const CRONS = "get-convex/convex-backend crates/model/src/cron_jobs/types.rs";
const SAFFRON = "https://github.com/get-convex/saffron saffron/src/parse.rs";
const CRON_TARGETS = "get-convex/convex-backend crates/application/src/application_function_runner/mod.rs";
const AUTH = "get-convex/convex-backend crates/isolate/src/environment/auth_config.rs";
const ONE = "export const one = query({ args: {}, handler: async () => 1 });";
const JOB =
  "export const job = internalMutation({ args: {}, handler: async () => {} });\nexport const q = internalQuery({ args: {}, handler: async () => 1 });";

const cron = (body: string): Files => ({
  ...moduleFile("m", JOB),
  ...moduleFile("crons", `const crons = cronJobs();\n${body}\nexport default crons;`),
});
const auth = (providers: string): Files => ({
  "convex/auth.config.ts": `export default { providers: [${providers}] };`,
});

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

const http: readonly Row[] = [
  {
    id: "deploy/http",
    rule: "http.ts exports a router.",
    citation: "https://docs.convex.dev/functions/http-actions",
    files: moduleFile(
      "http",
      'const http = httpRouter();\nhttp.route({ path: "/hi", method: "GET", handler: httpAction(async () => new Response("hello")) });\nexport default http;',
    ),
    steps: [{ request: "/hi" }],
    expected: { value: { status: 200, body: "hello" } },
  },
  {
    id: "deploy/http-no-default",
    rule: "http.ts has a default export.",
    citation: ANALYZE,
    files: moduleFile("http", "export const x = 1;"),
    expected: { rejects: "`convex/http.js` must have a default export of a Router.", code: "InvalidModules" },
  },
  {
    id: "deploy/http-wrong-default",
    rule: "The default export of http.ts is a router.",
    citation: ANALYZE,
    files: moduleFile("http", "export default {};"),
    expected: { rejects: "The default export of `convex/http.js` is not a Router.", code: "InvalidModules" },
  },
];

const crons: readonly Row[] = [
  {
    id: "deploy/crons",
    rule: "Crons of every kind may call internal and public functions.",
    citation: "https://docs.convex.dev/scheduling/cron-jobs",
    files: cron(
      'crons.interval("i", { minutes: 5 }, internal.m.job); crons.hourly("h", { minuteUTC: 0 }, internal.m.job); crons.daily("d", { hourUTC: 23, minuteUTC: 59 }, internal.m.job); crons.weekly("w", { dayOfWeek: "monday", hourUTC: 0, minuteUTC: 0 }, internal.m.job); crons.monthly("m", { day: 31, hourUTC: 0, minuteUTC: 0 }, internal.m.job); crons.cron("c", "*/5 0-6 * * 1-5", internal.m.job);',
    ),
    expected: { accepts: true },
  },
  {
    id: "deploy/crons-no-default",
    rule: "crons.ts has a default export.",
    citation: ANALYZE,
    files: moduleFile("crons", "export const x = 1;"),
    expected: { rejects: "`convex/crons.js` must have a default export of a Crons object.", code: "InvalidModules" },
  },
  {
    id: "deploy/crons-wrong-default",
    rule: "The default export of crons.ts is a Crons object.",
    citation: ANALYZE,
    files: moduleFile("crons", "export default [];"),
    expected: { rejects: "The default export of `convex/crons.js` is not a Crons object.", code: "InvalidModules" },
  },
  {
    id: "deploy/cron-unknown-function",
    rule: "A cron's function exists.",
    citation: CRON_TARGETS,
    files: cron('crons.interval("clean up", { hours: 1 }, (internal as any).m.nope);'),
    expected: {
      rejects: "The cron job 'clean up' schedules a function that does not exist: m.js:nope",
      code: "InvalidModules",
    },
  },
  {
    id: "deploy/cron-query",
    rule: "A cron does not call a query.",
    citation: CRON_TARGETS,
    files: cron('crons.interval("ask", { hours: 1 }, (internal as any).m.q);'),
    expected: {
      rejects: "The cron job 'ask' schedules a query function, only actions and mutations can be scheduled: m.js:q",
      code: "InvalidModules",
    },
  },
  {
    id: "deploy/cron-expression",
    rule: "Cron expressions are valid.",
    citation: CRONS,
    files: cron('crons.cron("c", "61 * * * *", internal.m.job);'),
    expected: { rejects: /61/, code: "InvalidCron" },
  },
  {
    id: "deploy/cron-last-day",
    rule: "Cron expressions may name the last day of a month, the nearest weekday, and the nth of a weekday.",
    citation: SAFFRON,
    files: cron(
      'crons.cron("last", "0 0 L * *", internal.m.job); crons.cron("near", "0 0 15W * *", internal.m.job); crons.cron("nth", "0 0 * * MON#2", internal.m.job);',
    ),
    expected: { accepts: true },
  },
  {
    id: "deploy/cron-long-step",
    rule: "A step is shorter than its field.",
    citation: SAFFRON,
    files: cron('crons.cron("c", "*/60 * * * *", internal.m.job);'),
    expected: { rejects: /60/, code: "InvalidCron" },
  },
  {
    id: "deploy/cron-interval-units",
    rule: "An interval has one unit.",
    citation: "npm convex/src/server/cron.ts",
    files: cron('crons.interval("i", { hours: 1, minutes: 1 } as any, internal.m.job);'),
    expected: { rejects: "Must specify one of seconds, minutes, or hours", code: "InvalidModules" },
  },
  {
    id: "deploy/cron-name",
    rule: "Cron names are ASCII.",
    citation: "npm convex/src/server/cron.ts",
    files: cron('crons.interval("küche", { hours: 1 }, internal.m.job);'),
    expected: {
      rejects: "Invalid cron identifier küche: use ASCII letters that are not control characters",
      code: "InvalidModules",
    },
  },
];

const authConfig: readonly Row[] = [
  {
    id: "deploy/auth-config",
    rule: "auth.config lists providers, OIDC and custom JWT.",
    citation: "https://docs.convex.dev/auth/advanced/custom-jwt",
    files: auth(
      '{ domain: "https://id.example.com", applicationID: "convex" }, { type: "customJwt", issuer: "https://a.example.com", jwks: "https://a.example.com/jwks.json", algorithm: "ES256" }',
    ),
    expected: { accepts: true },
  },
  {
    id: "deploy/auth-config-env",
    rule: "Environment variables of auth.config are set.",
    citation: AUTH,
    files: auth('{ domain: process.env.ISSUER!, applicationID: "convex" }'),
    expected: {
      rejects: "Environment variable ISSUER is used in auth config file but its value was not set",
      code: "AuthConfigMissingEnvironmentVariable",
    },
  },
  {
    id: "deploy/auth-config-env-set",
    rule: "auth.config may read environment variables.",
    citation: AUTH,
    files: auth('{ domain: process.env.ISSUER!, applicationID: "convex" }'),
    options: { env: { ISSUER: "https://id.example.com" } },
    expected: { accepts: true },
  },
  {
    id: "deploy/auth-config-no-providers",
    rule: "auth.config has a list of providers.",
    citation: AUTH,
    files: { "convex/auth.config.ts": "export default {};" },
    expected: {
      rejects: "auth config file must include a list of provider credentials: missing field `providers`",
      code: "AuthConfigNotMatchingSchemaError",
    },
  },
  {
    id: "deploy/auth-config-no-default",
    rule: "auth.config has a default export.",
    citation: AUTH,
    files: { "convex/auth.config.ts": "export const x = 1;" },
    expected: { rejects: "auth config file is missing default export.", code: "AuthConfigMissingExportError" },
  },
  {
    id: "deploy/auth-config-spelling",
    rule: "It is spelled applicationID.",
    citation: AUTH,
    files: auth('{ domain: "https://id.example.com", applicationId: "convex" } as any'),
    expected: {
      rejects:
        "Provider at index 0 must have applicationID property spelled lowercase 'application', capital I, capital D.",
      code: "AuthConfigNotMatchingSchemaError",
    },
  },
  {
    id: "deploy/auth-config-custom-domain",
    rule: "A custom JWT provider has an issuer, not a domain.",
    citation: AUTH,
    files: auth('{ type: "customJwt", domain: "https://a.example.com", jwks: "x", algorithm: "RS256" } as any'),
    expected: {
      rejects: "Provider at index 0 is a customJwt so cannot have a 'domain' specified",
      code: "AuthConfigNotMatchingSchemaError",
    },
  },
];

export const rows: readonly Row[] = [...modules, ...functions, ...node, ...http, ...crons, ...authConfig];
