/** Rows that call functions of one app. */

import { moduleFile, schemaFile, type Expected, type Row, type Step } from "./harness.ts";

export const FILES = {
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

export function row(
  id: string,
  rule: string,
  citation: string,
  steps: readonly Step[],
  expected: Expected,
  rest: Partial<Row> = {},
): Row {
  return { id: `calls/${id}`, rule, citation, files: FILES, steps, expected, ...rest };
}

export const query = (path: string, args = {}): Step => ({ call: "query", path, args });

export const mutation = (path: string, args = {}): Step => ({ call: "mutation", path, args });

export const action = (path: string, args = {}): Step => ({ call: "action", path, args });

export const notFound = (path: string): Expected => ({
  rejects: `Could not find public function for '${path}'. Did you forget to run \`npx convex dev\` or \`npx convex deploy\`?`,
});
