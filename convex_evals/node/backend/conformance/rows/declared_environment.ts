/** Declared environment variables: what is checked at a push and at a change, and auth.config, which reads them. */

import { moduleFile, type Expected, type Files, type Row, type Step } from "../harness.ts";

const BINDINGS = "get-convex/convex-backend crates/model/src/components/type_checking.rs";
const MODEL = "get-convex/convex-backend crates/model/src/environment_variables/mod.rs";

const READER = moduleFile(
  "m",
  "export const read = query({ args: { name: v.string() }, handler: async (_ctx, { name }) => process.env[name] ?? null });",
);

const set = (variables: readonly { name: string; value?: string }[]): Step => ({
  api: "/api/update_environment_variables",
  body: { changes: variables },
  as: "admin",
});

const read = (name: string): Step => ({ call: "query", path: "m:read", args: { name } });

const APP = "get-convex/convex-backend crates/application/src/lib.rs";
const PUSH = "get-convex/convex-backend crates/application/src/deploy_config.rs";

/** An app that declares `env`, and a component that declares `child` and is used with `bindings`. */
function declaring(env: string, child?: string, bindings = ""): Files {
  const imports = 'import { defineApp, defineComponent } from "convex/server"; import { v } from "convex/values";';
  if (child === undefined) {
    return { "convex/convex.config.ts": `${imports} export default defineApp({ env: { ${env} } as any });`, ...READER };
  }
  return {
    "convex/child/convex.config.ts": `${imports} export default defineComponent("child", { env: { ${child} } as any });`,
    "convex/convex.config.ts": `${imports} import child from "./child/convex.config"; const app = defineApp({ env: { ${env} } as any }); app.use(child, { env: { ${bindings} } as any } as any); export default app;`,
    ...READER,
  };
}

interface Declaring {
  readonly app?: string;
  readonly child?: string;
  readonly bindings?: string;
  readonly env?: Record<string, string>;
  readonly steps?: readonly Step[];
  readonly citation?: string;
}

function checks(id: string, rule: string, given: Declaring, expected: Expected): Row {
  const { app = "", child, bindings, env, steps, citation = PUSH } = given;
  const files = declaring(app, child, bindings);
  return {
    id: `declared_environment/${id}`,
    rule,
    citation,
    files,
    ...(env ? { options: { env } } : {}),
    ...(steps ? { steps } : {}),
    expected,
  };
}

const LEVELS = 'v.union(v.literal("low"), v.literal("high"))';

const pushed: readonly Row[] = [
  checks(
    "push-missing",
    "What the app requires is set before it is pushed.",
    { app: "B: v.string(), C: v.optional(v.string()), A: v.string(), SET: v.string()", env: { SET: "" } },
    {
      rejects:
        "Required environment variables are not set: A, B. Set them in the Convex dashboard or CLI before pushing.",
      code: "MissingEnvironmentVariables",
    },
  ),
  checks(
    "push-optional",
    "What is optional need not be set.",
    { app: "A: v.optional(v.string())", steps: [read("A")] },
    { value: null },
  ),
  checks(
    "push-literal",
    "Values are one of the literals that are declared.",
    { app: `LEVEL: ${LEVELS}`, env: { LEVEL: "high" }, steps: [read("LEVEL")] },
    { value: "high" },
  ),
  checks(
    "push-invalid",
    "Other values refuse the push.",
    { app: 'LEVEL: v.literal("low")', env: { LEVEL: "high" } },
    {
      rejects:
        'Environment variable LEVEL does not match its declared validator: `"high"` does not match literal validator `v.literal("low")`.',
      code: "InvalidEnvironmentVariable",
    },
  ),
  checks(
    "push-invalid-union",
    "Of a union, one has to match.",
    { app: `LEVEL: v.optional(${LEVELS})`, env: { LEVEL: "middle" } },
    {
      rejects: "Environment variable LEVEL does not match its declared validator: Value does not match validator.",
      code: "InvalidEnvironmentVariable",
    },
  ),
  checks(
    "push-over",
    "A later push may declare more, once it is set.",
    { steps: [set([{ name: "A", value: "1" }]), { deploy: declaring("A: v.string()") }, read("A")] },
    { value: "1" },
  ),
  checks(
    "push-over-missing",
    "Otherwise it is refused.",
    { steps: [{ deploy: declaring("A: v.string()") }] },
    { rejects: "Required environment variables are not set: A.", code: "MissingEnvironmentVariables" },
  ),
  ...["v.number()", "v.union(v.string(), v.null())", "v.literal(1)", "v.any()"].map((validator) =>
    checks(
      `declare-${validator.replaceAll(/\W+/g, " ").trim().replaceAll(" ", "-")}`,
      `Variables are strings, not ${validator}.`,
      { app: `A: ${validator}` },
      {
        rejects:
          'Env var `A` on the app has a non-string validator. Component env vars must be declared with `v.string()`, `v.literal("...")`, or a union of those.',
        code: "InvalidEnvVarDeclaration",
      },
    ),
  ),
  checks(
    "declare-component",
    "Those of components are, too.",
    { child: "A: v.boolean()" },
    { rejects: "Env var `A` on component child has a non-string validator.", code: "InvalidEnvVarDeclaration" },
  ),
];

const bindings: readonly Row[] = [
  checks(
    "bind-unknown",
    "What a component has not declared cannot be bound.",
    { child: "KEY: v.string()", bindings: '"KEY": "k", OTHER: "x"', citation: BINDINGS },
    { rejects: 'Component "child" has no env var named "OTHER"', code: "TypecheckError" },
  ),
  checks(
    "bind-value",
    "A value that is bound matches.",
    { child: 'KEY: v.literal("a")', bindings: 'KEY: "b"', citation: BINDINGS },
    {
      rejects:
        'Component "child" has an invalid value for env var "KEY": `"b"` does not match literal validator `v.literal("a")`.',
      code: "TypecheckError",
    },
  ),
  checks(
    "bind-optional",
    "What is required is not bound to what is optional.",
    { app: "P: v.optional(v.string())", child: "KEY: v.string()", bindings: "KEY: app.env.P", citation: BINDINGS },
    { rejects: 'env var "KEY" is required, but parent env var P is optional', code: "TypecheckError" },
  ),
  checks(
    "bind-wider",
    "Nor to what may have other values.",
    { app: "P: v.string()", child: `KEY: ${LEVELS}`, bindings: "KEY: app.env.P", citation: BINDINGS },
    { rejects: 'env var "KEY" validator is not satisfied by parent env var P validator', code: "TypecheckError" },
  ),
  checks(
    "bind-narrower",
    "To what has fewer values it can be bound.",
    {
      app: 'P: v.literal("low")',
      child: `KEY: ${LEVELS}`,
      bindings: "KEY: app.env.P",
      env: { P: "low" },
      citation: BINDINGS,
    },
    { accepts: true },
  ),
];

const REQUIRED = { app: `B: v.string(), A: v.string(), LEVEL: v.optional(${LEVELS})`, env: { A: "1", B: "2" } };

const changes: readonly Row[] = [
  checks(
    "change-required",
    "What the app requires is not removed.",
    { ...REQUIRED, steps: [set([{ name: "B" }, { name: "A" }, { name: "LEVEL" }])], citation: APP },
    {
      rejects:
        "Cannot delete required environment variables: A, B. These are declared as required in the app definition.",
      code: "RequiredEnvironmentVariable",
    },
  ),
  checks(
    "change-optional",
    "What is optional is.",
    {
      ...REQUIRED,
      steps: [set([{ name: "LEVEL", value: "low" }]), set([{ name: "LEVEL" }]), read("LEVEL")],
      citation: APP,
    },
    { value: null },
  ),
  checks(
    "change-invalid",
    "Values match what is declared.",
    { ...REQUIRED, steps: [set([{ name: "LEVEL", value: "middle" }])], citation: APP },
    {
      rejects: "Environment variable LEVEL does not match its declared validator: Value does not match validator.",
      code: "InvalidEnvironmentVariable",
    },
  ),
  checks(
    "change-required-set",
    "One request removes and sets what is required.",
    { ...REQUIRED, steps: [set([{ name: "A", value: "3" }, { name: "A" }]), read("A")], citation: APP },
    { value: "3" },
  ),
  checks(
    "change-twice",
    "Of two values of one request the greater stays.",
    {
      steps: [
        set([
          { name: "X", value: "b" },
          { name: "X", value: "a" },
        ]),
        read("X"),
      ],
      citation: APP,
    },
    { value: "b" },
  ),
  checks(
    "change-built-in-removed",
    "To remove what is built in changes nothing.",
    { steps: [set([{ name: "CONVEX_SITE_URL" }])], citation: MODEL },
    { accepts: true },
  ),
];

const AUTH_FILES: Files = {
  "convex/auth.config.ts":
    'const at = process.env.DOMAIN!; if (at === "bad") throw new Error("no domain"); export default { providers: at === "none" ? (undefined as any) : [{ domain: at, applicationID: "a" }] };',
  ...READER,
};

function authenticating(id: string, rule: string, change: { value?: string }, expected: Expected): Row {
  const options = { env: { DOMAIN: "https://one.example.com" } };
  const steps = [set([{ name: "DOMAIN", ...change }])];
  return { id: `declared_environment/auth-${id}`, rule, citation: APP, files: AUTH_FILES, options, steps, expected };
}

const authentication: readonly Row[] = [
  authenticating("changed", "auth.config is evaluated again.", { value: "https://two.example.com" }, { accepts: true }),
  authenticating(
    "removed",
    "What it reads is not removed.",
    {},
    {
      rejects: "Environment variable DOMAIN is used in auth config file but its value was not set",
      code: "AuthConfigMissingEnvironmentVariable",
    },
  ),
  authenticating(
    "throws",
    "A change with which it throws is refused.",
    { value: "bad" },
    {
      rejects: "This change would make the auth config invalid: Uncaught Error: no domain",
      code: "InvalidAuthConfig",
    },
  ),
  authenticating(
    "invalid",
    "One with which it has no providers is, too.",
    { value: "none" },
    {
      rejects:
        "This change would make the auth config invalid: auth config file must include a list of provider credentials: missing field `providers`",
      code: "InvalidAuthConfig",
    },
  ),
];

export const rows: readonly Row[] = [...pushed, ...bindings, ...changes, ...authentication];
