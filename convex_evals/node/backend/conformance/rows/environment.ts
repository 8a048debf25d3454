/** Environment variables: what may be set, and what apps and components declare. */

import { moduleFile, type Expected, type Files, type Row, type Step } from "../harness.ts";

const VARIABLES = "get-convex/convex-backend crates/common/src/types/environment_variables.rs";
const MODEL = "get-convex/convex-backend crates/model/src/environment_variables/mod.rs";
const DOCS = "https://docs.convex.dev/production/environment-variables";
const BINDINGS = "get-convex/convex-backend crates/model/src/components/type_checking.rs";
const COMPONENTS = "npm convex/src/server/components/index.ts";

const READER = moduleFile(
  "m",
  "export const read = query({ args: { name: v.string() }, handler: async (_ctx, { name }) => process.env[name] ?? null });",
);

const set = (changes: readonly { name: string; value?: string }[], as: "admin" | "client" = "admin"): Step => ({
  api: "/api/update_environment_variables",
  body: { changes },
  as,
});

const read = (name: string): Step => ({ call: "query", path: "m:read", args: { name } });

function row(id: string, rule: string, citation: string, steps: readonly Step[], expected: Expected): Row {
  return { id: `environment/${id}`, rule, citation, files: READER, steps, expected };
}

const many = (count: number, value: string): { name: string; value: string }[] =>
  Array.from({ length: count }, (_, at) => ({ name: `V${at}`, value }));

const variables: readonly Row[] = [
  row("set", "Functions see a variable that is set.", DOCS, [set([{ name: "A", value: "1" }]), read("A")], {
    value: "1",
  }),
  row(
    "replace",
    "A variable can be set again.",
    DOCS,
    [set([{ name: "A", value: "1" }]), set([{ name: "A", value: "2" }]), read("A")],
    { value: "2" },
  ),
  row(
    "remove",
    "One that is removed is gone.",
    DOCS,
    [set([{ name: "A", value: "1" }]), set([{ name: "A" }]), read("A")],
    { value: null },
  ),
  row("remove-missing", "To remove one that is not there changes nothing.", MODEL, [set([{ name: "A" }])], {
    accepts: true,
  }),
  row("empty", "A value may be empty.", VARIABLES, [set([{ name: "A", value: "" }]), read("A")], { value: "" }),
  row("underscore", "Names may begin with an underscore.", VARIABLES, [set([{ name: "_a", value: "1" }]), read("_a")], {
    value: "1",
  }),
  row("digit", "Names do not begin with a digit.", VARIABLES, [set([{ name: "1A", value: "1" }])], {
    rejects: "The environment variable name 1A is invalid.",
    code: "EnvironmentVariableNameInvalid",
  }),
  row("dash", "Names have no dashes.", VARIABLES, [set([{ name: "A-B", value: "1" }])], {
    rejects: "must begin with a letter and may only include characters a-z, A-Z, 0-9, and underscores.",
    code: "EnvironmentVariableNameInvalid",
  }),
  row("long-name", "Names have up to 256 characters.", VARIABLES, [set([{ name: "A".repeat(256), value: "1" }])], {
    accepts: true,
  }),
  row("longer-name", "Longer ones are refused.", VARIABLES, [set([{ name: "A".repeat(257), value: "1" }])], {
    rejects: "is too long. Environment variable names must be less than 256.",
    code: "EnvironmentVariableNameTooLong",
  }),
  row("large-value", "Values have up to 8 KiB.", VARIABLES, [set([{ name: "A", value: "x".repeat(8192) }])], {
    accepts: true,
  }),
  row("larger-value", "Larger ones are refused.", VARIABLES, [set([{ name: "A", value: "x".repeat(8193) }])], {
    rejects: "The environment variable value is 8193 bytes, which is too large.",
    code: "EnvironmentVariableValueTooLarge",
  }),
  row(
    "built-in",
    "Variables of the deployment itself cannot be set.",
    VARIABLES,
    [set([{ name: "CONVEX_SITE_URL", value: "x" }])],
    {
      rejects: 'Environment variable with name "CONVEX_SITE_URL" is built-in and cannot be overridden',
      code: "EnvVarNameForbidden",
    },
  ),
  row("count", "There are up to 512 variables.", DOCS, [set(many(512, "1"))], { accepts: true }),
  row("too-many", "One more is refused.", VARIABLES, [set(many(512, "1")), set([{ name: "MORE", value: "1" }])], {
    rejects: "The environment variable limit (512) has been met.",
    code: "EnvVarLimitMet",
  }),
  row("total", "Together they have up to 512 KiB.", VARIABLES, [set(many(64, "x".repeat(8192)))], {
    rejects: "The total size of all environment variables (524470 bytes) exceeds the limit (524288 bytes).",
    code: "EnvVarTotalSizeLimitMet",
  }),
  row("client", "Only administrators set variables.", DOCS, [set([{ name: "A", value: "1" }], "client")], {
    rejects: /./,
  }),
];

const CHILD: Files = {
  "convex/child/convex.config.ts":
    'import { defineComponent } from "convex/server"; import { v } from "convex/values"; export default defineComponent("child", { env: { KEY: v.string(), LEVEL: v.optional(v.string()) } });',
  "convex/child/lib.ts":
    'import { query } from "./_generated/server"; export const read = query({ args: {}, handler: async () => [process.env.KEY ?? null, process.env.LEVEL ?? null] });',
};

function declared(id: string, rule: string, use: string, expected: Expected, rest: Partial<Row> = {}): Row {
  const files = {
    ...CHILD,
    "convex/convex.config.ts": `import { defineApp } from "convex/server"; import { v } from "convex/values"; import child from "./child/convex.config"; const app = defineApp({ env: { TOKEN: v.string(), MAYBE: v.optional(v.string()) } }); ${use} export default app;`,
    ...moduleFile(
      "m",
      "export const read = query({ args: {}, handler: async (ctx): Promise<any> => await ctx.runQuery((components as any).child.lib.read, {}) });",
    ),
  };
  const options = { env: { TOKEN: "secret" } };
  return { id: `environment/${id}`, rule, citation: COMPONENTS, files, options, expected, ...rest };
}

const readChild: Partial<Row> = { steps: [{ call: "query", path: "m:read" }] };

const declarations: readonly Row[] = [
  declared(
    "bound",
    "A component sees what is bound.",
    "app.use(child, { env: { KEY: app.env.TOKEN, LEVEL: 'high' } });",
    { value: ["secret", "high"] },
    readChild,
  ),
  declared(
    "bound-unset",
    "A binding to a variable that is not set is none.",
    "app.use(child, { env: { KEY: 'k', LEVEL: app.env.MAYBE } });",
    { value: ["k", null] },
    readChild,
  ),
  declared(
    "optional",
    "What is optional need not be bound.",
    "app.use(child, { env: { KEY: 'k' } });",
    { value: ["k", null] },
    readChild,
  ),
  declared(
    "undefined",
    "A binding to undefined is none.",
    "app.use(child, { env: { KEY: 'k', LEVEL: undefined } } as any);",
    { value: ["k", null] },
    readChild,
  ),
  declared(
    "required",
    "What is required has to be bound.",
    "app.use(child, { env: {} } as any);",
    { rejects: 'Component "child" is missing required env var "KEY"', code: "TypecheckError" },
    { citation: BINDINGS },
  ),
  declared(
    "undeclared-reference",
    "Only declared variables can be bound.",
    "app.use(child, { env: { KEY: (app.env as any).OTHER } });",
    {
      rejects: 'Env var "OTHER" is not declared on this app. Add it to the `env` option of defineApp.',
    },
  ),
  declared("number", "What is bound is a string or a reference.", "app.use(child, { env: { KEY: 7 } } as any);", {
    rejects: 'Env var "KEY" must be a string or an env var reference. Received: number',
  }),
];

export const rows: readonly Row[] = [...variables, ...declarations];
