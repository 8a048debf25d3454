/** Calling functions: visibility, types, arguments, errors, time. */

import { moduleFile, schemaFile, type Expected, type Row, type Step } from "../harness.ts";

const VALIDATION = "get-convex/convex-backend crates/udf/src/validation.rs";
const UDF = "get-convex/convex-backend crates/isolate/src/environment/udf/mod.rs";
const TERMINATION = "get-convex/convex-backend crates/isolate/src/termination.rs";
const ERRORS = "https://docs.convex.dev/functions/error-handling/application-errors";
const ACTIONS = "https://docs.convex.dev/functions/actions";
const INTERNAL = "https://docs.convex.dev/functions/internal-functions";

const FILES = {
  ...schemaFile("items: defineTable({ name: v.string() })"),
  ...moduleFile(
    "m",
    `
export const pub = query({ args: {}, handler: async () => "public" });
export const write = mutation({ args: { name: v.string() }, handler: async (ctx, { name }) => await ctx.db.insert("items", { name }) });
export const act = action({ args: {}, handler: async () => "acted" });
export const hidden = internalQuery({ args: {}, handler: async () => "internal" });
export const hiddenWrite = internalMutation({ args: { name: v.string() }, handler: async (ctx, { name }) => { await ctx.db.insert("items", { name }); return name; } });
export const hiddenAct = internalAction({ args: {}, handler: async () => "internal action" });
export const names = query({ args: {}, handler: async (ctx) => (await ctx.db.query("items").collect()).map((item) => item.name) });
export default query({ args: {}, handler: async () => "default export" });
export const viaAction = action({ args: {}, handler: async (ctx): Promise<any> => [await ctx.runQuery(internal.m.hidden, {}), await ctx.runMutation(internal.m.hiddenWrite, { name: "a" }), await ctx.runAction(internal.m.hiddenAct, {})] });
export const viaMutation = mutation({ args: {}, handler: async (ctx): Promise<any> => [await ctx.runQuery(internal.m.hidden, {}), await ctx.runMutation(internal.m.hiddenWrite, { name: "nested" })] });
export const badInnerArgs = action({ args: {}, handler: async (ctx): Promise<any> => await ctx.runMutation(internal.m.hiddenWrite, { name: 7 } as any) });
export const wrongInnerType = action({ args: {}, handler: async (ctx): Promise<any> => await ctx.runMutation(internal.m.hidden as any, {}) });
export const missingInner = action({ args: {}, handler: async (ctx): Promise<any> => await ctx.runQuery((internal as any).m.nothing, {}) });
export const throws = query({ args: {}, handler: async () => { throw new TypeError("broken"); } });
export const throwsData = mutation({ args: {}, handler: async (ctx) => { await ctx.db.insert("items", { name: "lost" }); throw new ConvexError({ code: 7n, list: ["x"] }); } });
export const throwsText = query({ args: {}, handler: async () => { throw new ConvexError("plain"); } });
export const innerData = action({ args: {}, handler: async (ctx): Promise<any> => { try { await ctx.runMutation(api.m.throwsData, {}); } catch (e) { return e instanceof ConvexError ? e.data : "other"; } } });
export const nestedData = mutation({ args: {}, handler: async (ctx): Promise<any> => { try { await ctx.runMutation(api.m.throwsData, {}); } catch (e) { return e instanceof ConvexError && e instanceof Error ? e.data : "other"; } } });
export const caughtNested = mutation({ args: {}, handler: async (ctx): Promise<any> => { try { await ctx.runMutation(api.m.throwsData, {}); } catch {} await ctx.db.insert("items", { name: "kept" }); } });
export const badReturn = mutation({ args: {}, returns: v.string(), handler: async (ctx) => { await ctx.db.insert("items", { name: "lost" }); return 1 as any; } });
export const never = query({ args: {}, handler: async () => { await new Promise(() => {}); } });
export const spin = query({ args: {}, handler: async () => { for (;;) {} } });
export const floating = mutation({ args: {}, handler: async (ctx) => { void ctx.db.insert("items", { name: "floating" }); return "returned"; } });
export const undef = query({ args: {}, handler: async () => undefined });
export const noValidator = query({ handler: async (_ctx, args: any) => args });
export const twoStep = mutation({ args: {}, handler: async (ctx) => { await ctx.db.insert("items", { name: "1" }); return (await ctx.db.query("items").collect()).length; } });
export const plain = () => "not a function of Convex";
`,
  ),
  ...moduleFile("dir/deep", 'export const fn = query({ args: {}, handler: async () => "deep" });'),
  ...moduleFile(
    "http",
    `const http = httpRouter();
http.route({ path: "/calls", method: "POST", handler: httpAction(async (ctx, request) => { const { name } = await request.json(); await ctx.runMutation(internal.m.hiddenWrite, { name }); return Response.json(await ctx.runQuery(api.m.names, {})); }) });
http.route({ path: "/throws", method: "GET", handler: httpAction(async () => { throw new Error("in http"); }) });
http.route({ pathPrefix: "/pre/", method: "GET", handler: httpAction(async (_ctx, request) => new Response(new URL(request.url).pathname, { status: 201, headers: { "x-own": "1" } })) });
export default http;`,
  ),
};

function row(
  id: string,
  rule: string,
  citation: string,
  steps: readonly Step[],
  expected: Expected,
  rest: Partial<Row> = {},
): Row {
  return { id: `calls/${id}`, rule, citation, files: FILES, steps, expected, ...rest };
}

const query = (path: string, args = {}): Step => ({ call: "query", path, args });
const mutation = (path: string, args = {}): Step => ({ call: "mutation", path, args });
const action = (path: string, args = {}): Step => ({ call: "action", path, args });
const notFound = (path: string): Expected => ({
  rejects: `Could not find public function for '${path}'. Did you forget to run \`npx convex dev\` or \`npx convex deploy\`?`,
});

const visibility: readonly Row[] = [
  row("public", "Clients call public functions.", INTERNAL, [query("m:pub")], { value: "public" }),
  row(
    "internal-hidden",
    "Clients cannot call internal functions, nor learn that they exist.",
    INTERNAL,
    [query("m:hidden")],
    notFound("m:hidden"),
  ),
  row(
    "internal-mutation-hidden",
    "Internal mutations are hidden too.",
    INTERNAL,
    [mutation("m:hiddenWrite", { name: "x" })],
    notFound("m:hiddenWrite"),
  ),
  row(
    "internal-action-hidden",
    "Internal actions are hidden too.",
    INTERNAL,
    [action("m:hiddenAct")],
    notFound("m:hiddenAct"),
  ),
  row(
    "internal-admin",
    "The owner may call internal functions.",
    VALIDATION,
    [{ call: "query", path: "m:hidden", as: "admin" }],
    { value: "internal" },
  ),
  row(
    "internal-acting",
    "The owner acting as a user may call them too.",
    VALIDATION,
    [{ call: "query", path: "m:hidden", as: { identity: { subject: "u", issuer: "i" } } }],
    { value: "internal" },
  ),
  row(
    "missing",
    "A function that does not exist is not found.",
    VALIDATION,
    [query("m:nothing")],
    notFound("m:nothing"),
  ),
  row(
    "missing-module",
    "Neither is one of a module that does not exist.",
    VALIDATION,
    [query("nowhere:fn")],
    notFound("nowhere:fn"),
  ),
  row(
    "not-registered",
    "Exports that are no Convex functions are not found.",
    VALIDATION,
    [query("m:plain")],
    notFound("m:plain"),
  ),
  row(
    "default",
    "A path without a name means the default export.",
    "https://docs.convex.dev/functions/query-functions",
    [query("m")],
    { value: "default export" },
  ),
  row(
    "folder",
    "Functions in folders are called with a slash.",
    "https://docs.convex.dev/functions/query-functions",
    [query("dir/deep:fn")],
    { value: "deep" },
  ),
  row(
    "js-suffix",
    "The module may be written with its extension.",
    "get-convex/convex-backend crates/sync_types/src/udf_path.rs",
    [query("dir/deep.js:fn")],
    { value: "deep" },
  ),
  row("type-mutation", "A query is not run as a mutation.", VALIDATION, [mutation("m:pub")], {
    rejects: "Trying to execute m.js:pub as Mutation, but it is defined as Query.",
  }),
  row("type-query", "An action is not run as a query.", VALIDATION, [query("m:act")], {
    rejects: "Trying to execute m.js:act as Query, but it is defined as Action.",
  }),
];

const nested: readonly Row[] = [
  row(
    "action-calls",
    "Actions run queries, mutations and actions, internal ones included.",
    ACTIONS,
    [action("m:viaAction")],
    { value: ["internal", "a", "internal action"] },
  ),
  row(
    "mutation-calls",
    "Mutations run queries and mutations in their own transaction.",
    "https://docs.convex.dev/functions/mutation-functions",
    [mutation("m:viaMutation"), query("m:names")],
    { value: ["nested"] },
  ),
  row(
    "inner-args",
    "Arguments of inner calls are validated.",
    "https://docs.convex.dev/functions/validation",
    [action("m:badInnerArgs")],
    {
      rejects:
        "ArgumentValidationError: Value does not match validator.\nPath: .name\nValue: 7.0\nValidator: v.string()",
    },
  ),
  row("inner-type", "An inner call has to match the type of its function.", VALIDATION, [action("m:wrongInnerType")], {
    rejects: "Trying to execute m.js:hidden as Mutation, but it is defined as Query.",
  }),
  row("inner-missing", "An inner call of nothing fails.", VALIDATION, [action("m:missingInner")], {
    rejects: /Could not find|no such export/,
  }),
  row(
    "inner-rollback",
    "A nested mutation that fails is rolled back alone when its error is caught.",
    "https://docs.convex.dev/functions/mutation-functions",
    [mutation("m:caughtNested"), query("m:names")],
    { value: ["kept"] },
  ),
  row(
    "http-action",
    "HTTP actions run functions too.",
    "https://docs.convex.dev/functions/http-actions",
    [{ request: "/calls", init: { method: "POST", body: '{"name":"h"}' } }],
    { value: { status: 200, body: '["h"]' } },
  ),
  row(
    "http-prefix",
    "Routes by prefix match everything below.",
    "https://docs.convex.dev/functions/http-actions#routing-and-request-handling",
    [{ request: "/pre/a/b" }],
    { value: { status: 201, body: "/pre/a/b" } },
  ),
  row(
    "http-missing",
    "Paths without a route are not found.",
    "get-convex/convex-backend crates/isolate/src/environment/action/mod.rs",
    [{ request: "/nowhere" }],
    { value: { status: 404, body: "No matching routes found" } },
  ),
  row(
    "http-method",
    "Routes match the method too.",
    "get-convex/convex-backend crates/isolate/src/environment/action/mod.rs",
    [{ request: "/calls" }],
    { value: { status: 404, body: "No matching routes found" } },
  ),
];

const failures: readonly Row[] = [
  row(
    "error-text",
    "Developers see the name, the message and where it was thrown.",
    "https://docs.convex.dev/functions/error-handling/",
    [query("m:throws")],
    {
      rejects:
        /^\[Request ID: [0-9a-f]{16}\] Server Error\nUncaught TypeError: broken\n {4}at handler \(\.\.\/convex\/m\.ts:\d+:\d+\)/,
    },
  ),
  row(
    "convex-error",
    "The data of a ConvexError reaches the client, with every type of value.",
    ERRORS,
    [mutation("m:throwsData")],
    { rejects: "Uncaught ConvexError:", data: { code: 7n, list: ["x"] } },
  ),
  row("convex-error-text", "A ConvexError may carry a string.", ERRORS, [query("m:throwsText")], {
    rejects: "Uncaught ConvexError: plain",
    data: "plain",
  }),
  row(
    "convex-error-inner",
    "Actions catch the ConvexErrors of what they call, data included.",
    ERRORS,
    [action("m:innerData")],
    { value: { code: 7n, list: ["x"] } },
  ),
  row(
    "convex-error-nested",
    "Mutations catch the ConvexErrors of what they call, as instances of their own class.",
    ERRORS,
    [mutation("m:nestedData")],
    { value: { code: 7n, list: ["x"] } },
  ),
  row(
    "rollback",
    "A mutation whose return value is refused leaves nothing behind.",
    "https://docs.convex.dev/functions/validation",
    [mutation("m:badReturn")],
    { rejects: /ReturnsValidationError: Value does not match validator\.\n[^]*Value: 1\.0\nValidator: v\.string\(\)/ },
  ),
  row(
    "own-writes",
    "A mutation reads its own writes.",
    "https://docs.convex.dev/database/advanced/occ",
    [mutation("m:twoStep")],
    { value: 1 },
  ),
  row(
    "undefined",
    "A function that returns nothing returns null.",
    "https://docs.convex.dev/functions/query-functions#returning-values",
    [query("m:undef")],
    { value: null },
  ),
  row(
    "no-validator",
    "Without a validator any arguments are accepted.",
    "https://docs.convex.dev/functions/validation",
    [query("m:noValidator", { a: [1n, null] })],
    { value: { a: [1n, null] } },
  ),
  row(
    "args-extra",
    "Arguments that the validator does not name are refused.",
    "https://docs.convex.dev/functions/validation",
    [mutation("m:write", { name: "x", more: 1 })],
    { rejects: "ArgumentValidationError: Object contains extra field `more` that is not in the validator." },
  ),
  row(
    "args-missing",
    "Required arguments have to be there.",
    "https://docs.convex.dev/functions/validation",
    [mutation("m:write", {})],
    { rejects: "ArgumentValidationError: Object is missing the required field `name`." },
  ),
  row(
    "never-settles",
    "A query that waits for nothing is ended.",
    UDF,
    [query("m:never")],
    { rejects: "Returned promise will never resolve" },
    { options: { limits: { transactionMs: 200 } } },
  ),
  row("time-limit", "Queries and mutations compute for at most one second.", TERMINATION, [query("m:spin")], {
    rejects: "Function execution timed out (maximum duration: 1s)",
  }),
  row(
    "floating",
    "Writes that are not awaited still belong to the mutation.",
    UDF,
    [mutation("m:floating"), query("m:names")],
    { value: ["floating"] },
  ),
];

export const rows: readonly Row[] = [...visibility, ...nested, ...failures];
