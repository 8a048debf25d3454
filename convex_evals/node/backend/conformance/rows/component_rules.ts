/** What is refused of components when they are pushed: names, mounts, nesting. */

import { moduleFile, type Expected, type Files, type Row, type Step } from "../harness.ts";

const CHECKING = "get-convex/convex-backend crates/model/src/components/type_checking.rs";
const DEFINITIONS = "npm convex/src/server/components/index.ts";
const BUNDLING = "npm convex/src/cli/lib/components/definition/bundle.ts";

const definition = (name: string, more = ""): string =>
  `import { defineComponent } from "convex/server"; const component = defineComponent("${name}"); ${more} export default component;`;

const ROUTER =
  'import { httpRouter } from "convex/server"; import { httpAction } from "./_generated/server"; const http = httpRouter(); http.route({ path: "/hi", method: "GET", handler: httpAction(async () => new Response("from a component")) }); export default http;';

const CHILDREN: Files = {
  "convex/plain/convex.config.ts": definition("plain"),
  "convex/plain/lib.ts":
    'import { query } from "./_generated/server"; export const one = query({ args: {}, handler: async () => 1 });',
  "convex/routed/convex.config.ts": definition("routed"),
  "convex/routed/http.ts": ROUTER,
};

function app(use: string): Files {
  return {
    ...CHILDREN,
    "convex/convex.config.ts": `import { defineApp } from "convex/server"; import plain from "./plain/convex.config"; import routed from "./routed/convex.config"; const app = defineApp(); void plain; void routed; ${use} export default app;`,
  };
}

function row(
  id: string,
  rule: string,
  use: string,
  expected: Expected,
  rest: { readonly citation?: string; readonly files?: Files; readonly steps?: readonly Step[] } = {},
): Row {
  const { citation = CHECKING, files = {}, steps } = rest;
  return {
    id: `component_rules/${id}`,
    rule,
    citation,
    files: { ...app(use), ...files },
    expected,
    ...(steps ? { steps } : {}),
  };
}

const OWN_ROUTES = (route: string): Files =>
  moduleFile(
    "http",
    `const http = httpRouter(); http.route({ ${route}, method: "GET", handler: httpAction(async () => new Response("of the app")) }); export default http;`,
  );

const hi = (prefix: string): { readonly steps: readonly Step[] } => ({ steps: [{ request: `${prefix}hi` }] });

export const rows: readonly Row[] = [
  row(
    "two-names",
    "A component may be used twice, by two names.",
    'app.use(plain); app.use(plain, { name: "other" });',
    {
      accepts: true,
    },
  ),
  row("one-name", "Two children have no common name.", "app.use(plain); app.use(plain);", {
    rejects: /has multiple child components with the same name: .*plain/,
  }),
  row(
    "other-name",
    "Not even where they are of two components.",
    'app.use(plain); app.use(routed, { name: "plain" });',
    {
      rejects: /has multiple child components with the same name: .*plain/,
    },
  ),
  row(
    "mount",
    "A component with routes is mounted.",
    'app.use(routed, { httpPrefix: "/a/" });',
    {
      value: { status: 200, body: "from a component" },
    },
    hi("/a/"),
  ),
  row("mount-no-routes", "One without routes is not.", 'app.use(plain, { httpPrefix: "/a/" });', {
    rejects: /HTTP mount .*\/a\/.* is invalid: Child component .*plain.* doesn't have any HTTP routes\./,
  }),
  row(
    "mount-twice",
    "Of two mounts with one prefix the later one counts.",
    'app.use(routed, { httpPrefix: "/a/" }); app.use(routed, { name: "b", httpPrefix: "/a/" });',
    { value: { status: 200, body: "from a component" } },
    { ...hi("/a/"), citation: DEFINITIONS },
  ),
  row(
    "mount-below",
    "One mount may be below another.",
    'app.use(routed, { httpPrefix: "/a/" }); app.use(routed, { name: "b", httpPrefix: "/a/b/" });',
    {
      value: { status: 200, body: "from a component" },
    },
    hi("/a/b/"),
  ),
  row(
    "mount-own-prefix",
    "A mount is no prefix of the app's own router.",
    'app.use(routed, { httpPrefix: "/a/" });',
    {
      rejects: /HTTP mount .*\/a\/.* is invalid: Overlap with existing prefix route/,
    },
    { files: OWN_ROUTES('pathPrefix: "/a/"') },
  ),
  row(
    "mount-own-exact",
    "An exact route of the app's may be below a mount.",
    'app.use(routed, { httpPrefix: "/a/" });',
    {
      value: { status: 200, body: "of the app" },
    },
    { files: OWN_ROUTES('path: "/a/own"'), steps: [{ request: "/a/own" }] },
  ),
  row(
    "prefix-start",
    "A prefix begins with a slash.",
    'app.use(routed, { httpPrefix: "a/" });',
    { rejects: /httpPrefix/ },
    { citation: DEFINITIONS },
  ),
  row(
    "prefix-end",
    "It need not end with one.",
    'app.use(routed, { httpPrefix: "/a" });',
    { value: { status: 200, body: "from a component" } },
    { ...hi("/a/"), citation: DEFINITIONS },
  ),
  row(
    "name-dash",
    "Names of components have no dashes.",
    'app.use(plain, { name: "a-b" });',
    { rejects: /a-b/ },
    { citation: "get-convex/convex-backend crates/common/src/components/component_path.rs" },
  ),
  row(
    "no-node",
    'Components have no "use node" modules.',
    "app.use(plain);",
    {
      rejects: '"use node" directive is not supported in components.',
      code: "Bundle",
    },
    {
      citation: BUNDLING,
      files: {
        "convex/plain/n.ts":
          '"use node";\nimport { action } from "./_generated/server"; export const a = action({ args: {}, handler: async () => 1 });',
      },
    },
  ),
  row(
    "unused",
    "A component that is not used is not deployed.",
    "",
    { rejects: /plain/ },
    {
      files: moduleFile(
        "m",
        "export const call = query({ args: {}, handler: async (ctx): Promise<any> => await ctx.runQuery((components as any).plain.lib.one, {}) });",
      ),
      steps: [{ call: "query", path: "m:call" }],
    },
  ),
];
