/** HTTP requests where components are mounted: which router answers. */

import { moduleFile, type Expected, type Files, type Row, type Step } from "../harness.ts";

const ROUTING = "get-convex/convex-backend crates/application/src/application_function_runner/http_routing.rs";

const route = (kind: "path" | "pathPrefix", path: string, method: string, answer: string): string =>
  `http.route({ ${kind}: "${path}", method: "${method}", handler: httpAction(async () => new Response("${answer}")) });`;

const router = (routes: readonly string[]): string =>
  `import { httpRouter } from "convex/server"; import { httpAction } from "./_generated/server"; const http = httpRouter(); ${routes.join(" ")} export default http;`;

const APP: Files = {
  "convex/convex.config.ts": `import { defineApp } from "convex/server"; import part from "./part/convex.config"; import bare from "./bare/convex.config";
const app = defineApp(); app.use(part, { httpPrefix: "/part/" }); void bare; export default app;`,
  "convex/part/convex.config.ts":
    'import { defineComponent } from "convex/server"; export default defineComponent("part");',
  "convex/bare/convex.config.ts":
    'import { defineComponent } from "convex/server"; export default defineComponent("bare");',
  "convex/bare/lib.ts":
    'import { query } from "./_generated/server"; export const one = query({ args: {}, handler: async () => 1 });',
  "convex/part/http.ts": router([
    route("path", "/exact", "POST", "part exact"),
    route("pathPrefix", "/", "GET", "part rest"),
    route("pathPrefix", "/", "POST", "part rest"),
  ]),
  "convex/http.ts": router([
    route("path", "/part/exact", "GET", "app exact"),
    route("pathPrefix", "/part/deep/", "GET", "app deep"),
    route("pathPrefix", "/", "GET", "app rest"),
  ]),
  ...moduleFile("m", "export const one = query({ args: {}, handler: async () => 1 });"),
};

function row(id: string, rule: string, request: string, method: string, expected: Expected): Row {
  const steps: readonly Step[] = [{ request, init: { method } }];
  return { id: `http_routes/${id}`, rule, citation: ROUTING, files: APP, steps, expected };
}

const says = (body: string): Expected => ({ value: { status: 200, body } });

export const rows: readonly Row[] = [
  row("exact", "An exact route of the app comes before a mount,", "/part/exact", "GET", says("app exact")),
  row("exact-method", "of its own method alone.", "/part/exact", "POST", says("part exact")),
  row("longer-prefix", "So does a prefix that is longer than the mount's,", "/part/deep/x", "GET", says("app deep")),
  row("longer-prefix-method", "of its own method alone.", "/part/deep/x", "POST", says("part rest")),
  row("shorter-prefix", "A shorter prefix of the app comes after it.", "/part/any", "GET", says("part rest")),
  row("no-mount", "What no mount leads away from is the app's.", "/parts", "GET", says("app rest")),
  row("head", "A request for a head is routed as one for the whole.", "/part/exact", "HEAD", says("")),
  {
    id: "http_routes/no-router",
    rule: "A component without a router is not mounted.",
    citation: "get-convex/convex-backend crates/model/src/components/type_checking.rs",
    files: {
      ...APP,
      "convex/convex.config.ts": APP["convex/convex.config.ts"]!.replace(
        "void bare;",
        'app.use(bare, { httpPrefix: "/bare/" });',
      ),
    },
    expected: { rejects: /HTTP mount .*\/bare\/.* is invalid: Child component .*bare/, code: "TypecheckError" },
  },
  row("no-route", "What is not routed, the router answers.", "/nowhere", "POST", {
    value: { status: 404, body: "No matching routes found" },
  }),
];
