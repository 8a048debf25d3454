/** Components at run time. */

import { moduleFile, type Expected, type Files, type Row, type Step } from "../harness.ts";

const AUTHORING = "https://docs.convex.dev/components/authoring";
const USING = "https://docs.convex.dev/components/using";
const HANDLES = "get-convex/convex-backend crates/model/src/components/handles.rs";
const CONTEXTS = "get-convex/convex-backend crates/isolate/src/context_cache.rs";
const UNDERSTANDING = "https://docs.convex.dev/components/understanding";

function component(folder: string, name: string, files: Files, options = ""): Files {
  const inside = Object.entries(files).map(([file, content]) => [
    file.replace(/^convex\//, `convex/${folder}/`),
    content,
  ]);
  return {
    [`convex/${folder}/convex.config.ts`]: `import { defineComponent } from "convex/server"; import { v } from "convex/values"; export default defineComponent("${name}"${options});`,
    ...Object.fromEntries(inside),
  };
}

const COUNTER = component(
  "counter",
  "counter",
  {
    ...moduleFile(
      "lib",
      `
let calls = 0;
export const bump = mutation({ args: {}, handler: async (ctx) => { await ctx.db.insert("rows" as any, {}); return [(await ctx.db.query("rows" as any).collect()).length, ++calls]; } });
export const env = query({ args: {}, handler: async () => ({ KEY: process.env.KEY, LEVEL: process.env.LEVEL, APP_KEY: process.env.APP_KEY, CONVEX_SITE_URL: process.env.CONVEX_SITE_URL }) });
export const who = query({ args: {}, handler: async (ctx) => await ctx.auth.getUserIdentity() });
export const back = mutation({ args: { handle: v.string() }, handler: async (ctx, { handle }): Promise<any> => await ctx.runMutation(handle as any, { from: "component" }) });
export const fails = mutation({ args: {}, handler: async (ctx) => { await ctx.db.insert("rows" as any, {}); throw new ConvexError("component error"); } });
export const hidden = internalQuery({ args: {}, handler: async () => 1 });
export const store = action({ args: {}, handler: async (ctx): Promise<any> => (await ctx.storage.getUrl(await ctx.storage.store(new Blob(["x"])))) !== null });
`,
    ),
    ...moduleFile(
      "http",
      `const http = httpRouter();
http.route({ path: "/hello", method: "GET", handler: httpAction(async (ctx, request) => Response.json([new URL(request.url).pathname, await ctx.auth.getUserIdentity(), await ctx.runMutation(api.lib.bump, {})])) });
http.route({ pathPrefix: "/files/", method: "GET", handler: httpAction(async (_ctx, request) => new Response(new URL(request.url).pathname)) });
export default http;`,
    ),
  },
  ", { env: { KEY: v.string(), LEVEL: v.optional(v.string()) } }",
);

const APP: Files = {
  ...COUNTER,
  "convex/convex.config.ts": `
import { defineApp } from "convex/server"; import { v } from "convex/values"; import counter from "./counter/convex.config";
const app = defineApp({ env: { APP_KEY: v.string() } });
app.use(counter, { env: { KEY: app.env.APP_KEY }, httpPrefix: "/counter/" });
app.use(counter, { name: "other", env: { KEY: "literal", LEVEL: "high" } });
export default app;`,
  ...moduleFile(
    "m",
    `
import { createFunctionHandle } from "convex/server";
export const bump = mutation({ args: {}, handler: async (ctx): Promise<any> => [await ctx.runMutation(components.counter.lib.bump, {}), await ctx.runMutation(components.other.lib.bump, {})] });
export const env = query({ args: {}, handler: async (ctx): Promise<any> => [await ctx.runQuery(components.counter.lib.env, {}), await ctx.runQuery(components.other.lib.env, {}), process.env.APP_KEY] });
export const who = query({ args: {}, handler: async (ctx): Promise<any> => await ctx.runQuery(components.counter.lib.who, {}) });
export const target = internalMutation({ args: { from: v.string() }, handler: async (_ctx, { from }) => "called from " + from });
export const floating = mutation({ args: {}, handler: async (ctx) => { for (let n = 0; n < 3; n++) void ctx.runMutation(components.counter.lib.bump, {}); return "returned"; } });
export const handle = mutation({ args: {}, handler: async (ctx): Promise<any> => await ctx.runMutation(components.counter.lib.back, { handle: await createFunctionHandle(internal.m.target) }) });
export const caught = mutation({ args: {}, handler: async (ctx): Promise<any> => { try { await ctx.runMutation(components.counter.lib.fails, {}); } catch (e) { return [e instanceof ConvexError && e.data, (await ctx.runMutation(components.counter.lib.bump, {}))[0]]; } } });
export const fails = mutation({ args: {}, handler: async (ctx): Promise<any> => await ctx.runMutation(components.counter.lib.fails, {}) });
export const hidden = query({ args: {}, handler: async (ctx): Promise<any> => await ctx.runQuery((components.counter.lib as any).hidden, {}) });
export const madeUp = query({ args: {}, handler: async (ctx): Promise<any> => await ctx.runQuery("function://counter;lib:hidden" as any, {}) });
export const madeUpOwn = action({ args: {}, handler: async (ctx): Promise<any> => await ctx.runMutation("function://;m:target" as any, { from: "nobody" }) });
export const madeUpLater = mutation({ args: {}, handler: async (ctx): Promise<any> => await ctx.scheduler.runAfter(0, "function://counter;lib:bump" as any, {}) });
export const handleOfHidden = query({ args: {}, handler: async (ctx): Promise<any> => await ctx.runQuery((await createFunctionHandle((components.counter.lib as any).hidden)) as any, {}) });
export const handles = action({ args: {}, handler: async (): Promise<any> => [await createFunctionHandle(internal.m.target), await createFunctionHandle(internal.m.target), await createFunctionHandle(components.counter.lib.bump), await createFunctionHandle(components.other.lib.bump)] });
export const call = mutation({ args: { handle: v.string() }, handler: async (ctx, { handle }): Promise<any> => await ctx.runMutation(handle as any, { from: "a handle" }) });
export const badArgs = mutation({ args: {}, handler: async (ctx): Promise<any> => await ctx.runMutation(components.counter.lib.back, { handle: 1 } as any) });
export const ownTable = query({ args: {}, handler: async (ctx) => (await ctx.db.query("rows" as any).collect()).length });
export const store = action({ args: {}, handler: async (ctx): Promise<any> => await ctx.runAction(components.counter.lib.store, {}) });
`,
  ),
  ...moduleFile(
    "http",
    'const http = httpRouter(); http.route({ path: "/own", method: "GET", handler: httpAction(async () => new Response("app")) }); export default http;',
  ),
};

const options = { env: { APP_KEY: "from the app", SECRET: "s" } };

function row(id: string, rule: string, citation: string, steps: readonly Step[], expected: Expected): Row {
  return { id: `components/${id}`, rule, citation, files: APP, options, steps, expected };
}

const bump: Step = { call: "mutation", path: "m:bump" };
const mutation = (path: string): Step => ({ call: "mutation", path });

export const rows: readonly Row[] = [
  row("instances", "Each instance has tables of its own; module state lasts for one call.", CONTEXTS, [bump, bump], {
    value: [
      [2, 1],
      [2, 1],
    ],
  }),
  row(
    "tables",
    "The app does not see a component's tables.",
    UNDERSTANDING,
    [bump, { call: "query", path: "m:ownTable" }],
    { value: 0 },
  ),
  row(
    "environment",
    "A component sees the variables that are bound for it, and no others.",
    `${AUTHORING}#environment-variables`,
    [{ call: "query", path: "m:env" }],
    { value: [{ KEY: "from the app" }, { KEY: "literal", LEVEL: "high" }, "from the app"] },
  ),
  row(
    "identity",
    "The caller's identity stays in the app.",
    `${AUTHORING}#authentication`,
    [{ call: "query", path: "m:who", as: { identity: { subject: "u", issuer: "i" } } }],
    { value: null },
  ),
  row(
    "handle",
    "Components call back through function handles, internal functions included.",
    `${AUTHORING}#function-handles`,
    [mutation("m:handle")],
    { value: "called from component" },
  ),
  row("handle-made-up", "A text that is no handle calls nothing.", HANDLES, [{ call: "query", path: "m:madeUp" }], {
    rejects: "Function handle not found",
  }),
  row(
    "handle-made-up-own",
    "Not even a function of the app itself.",
    HANDLES,
    [{ call: "action", path: "m:madeUpOwn" }],
    { rejects: "Function handle not found" },
  ),
  row("handle-made-up-later", "Nor does it schedule anything.", HANDLES, [mutation("m:madeUpLater")], {
    rejects: "Function handle not found",
  }),
  row(
    "handle-internal",
    "Internal functions of a component have no handle for the app.",
    HANDLES,
    [{ call: "query", path: "m:handleOfHidden" }],
    { rejects: "Function handle not found" },
  ),
  row(
    "handle-stored",
    "A handle can be kept, and used after another push.",
    `${AUTHORING}#function-handles`,
    [
      { call: "action", path: "m:handles" },
      { deploy: { ...APP, "convex/more.ts": "export {};" } },
      {
        call: "mutation",
        path: "m:call",
        args: ([handles]) => ({ handle: (handles as string[])[1] }),
      },
    ],
    { value: "called from a handle" },
  ),
  row(
    "rollback",
    "A call that fails is rolled back alone, and its error can be caught.",
    `${USING}#transactions`,
    [mutation("m:caught")],
    { value: ["component error", 1] },
  ),
  row(
    "floating",
    "Calls that are not awaited, several at once and of a module that was not loaded yet, still belong to the mutation.",
    "get-convex/convex-backend crates/isolate/src/environment/udf/mod.rs",
    [mutation("m:floating"), bump],
    {
      value: [
        [4, 1],
        [1, 1],
      ],
    },
  ),
  row("storage", "Components store files of their own.", UNDERSTANDING, [{ call: "action", path: "m:store" }], {
    value: true,
  }),
  row(
    "http",
    "Requests below the prefix go to the component, with the whole URL and without the identity.",
    "https://docs.convex.dev/config/convex.config.ts",
    [{ request: "/counter/hello" }],
    { value: { status: 200, body: '["/counter/hello",null,[1,1]]' } },
  ),
  row(
    "http-prefix",
    "Its own prefixes work below it.",
    "https://docs.convex.dev/config/convex.config.ts",
    [{ request: "/counter/files/a/b" }],
    { value: { status: 200, body: "/counter/files/a/b" } },
  ),
  row(
    "http-own",
    "The app's own routes stay where they are.",
    "https://docs.convex.dev/config/convex.config.ts",
    [{ request: "/own" }],
    { value: { status: 200, body: "app" } },
  ),
  row(
    "http-unmounted",
    "A component without a prefix has no routes.",
    "https://docs.convex.dev/config/convex.config.ts",
    [{ request: "/other/hello" }],
    { value: { status: 404, body: "No matching routes found" } },
  ),
  row(
    "http-missing",
    "A mounted component answers for what it does not route.",
    "https://docs.convex.dev/config/convex.config.ts",
    [{ request: "/counter/nothing" }],
    { value: { status: 404, body: "No matching routes found" } },
  ),
  row(
    "error",
    "An error of a component fails the caller that does not catch it.",
    `${USING}#transactions`,
    [mutation("m:fails")],
    { rejects: "Uncaught ConvexError: component error", data: "component error" },
  ),
  row(
    "internal",
    "Internal functions of a component are not part of its API.",
    UNDERSTANDING,
    [{ call: "query", path: "m:hidden" }],
    { rejects: /Could not|not.*found|no such|does not export|Couldn't/i },
  ),
  row("arguments", "Arguments are validated at the border.", AUTHORING, [mutation("m:badArgs")], {
    rejects: "ArgumentValidationError: Value does not match validator.\nPath: .handle",
  }),
  row(
    "clients",
    "Clients cannot call a component's functions.",
    UNDERSTANDING,
    [{ call: "mutation", path: "lib:bump" }],
    { rejects: "Could not find public function for 'lib:bump'" },
  ),
  row("clients-path", "Neither by its path.", UNDERSTANDING, [{ call: "mutation", path: "counter/lib:bump" }], {
    rejects: "Could not find public function for 'counter/lib:bump'",
  }),
];
