/** Functions that call functions: depth, transactions, what each kind may call. */

import { moduleFile, schemaFile, type Expected, type Row, type Step } from "../harness.ts";

const CALLS = "get-convex/convex-backend crates/isolate/src/environment/udf/async_syscall.rs";
const KNOBS = "get-convex/convex-backend crates/common/src/knobs.rs";
const MUTATIONS = "https://docs.convex.dev/functions/mutation-functions#transactions";
const SERVER = "npm convex/src/server/registration.ts";

const FILES = {
  ...schemaFile("items: defineTable({ name: v.string() })"),
  ...moduleFile(
    "m",
    `
export const add = mutation({ args: { name: v.string() }, handler: async (ctx, { name }) => { await ctx.db.insert("items", { name }); return (await ctx.db.query("items").collect()).length; } });
export const names = query({ args: {}, handler: async (ctx) => (await ctx.db.query("items").collect()).map((item) => item.name) });
export const fails = mutation({ args: {}, handler: async (ctx) => { await ctx.db.insert("items", { name: "lost" }); throw new Error("inner"); } });
export const down = query({ args: { levels: v.number() }, handler: async (ctx, { levels }): Promise<any> => levels === 0 ? "bottom" : await ctx.runQuery(api.m.down, { levels: levels - 1 }) });
export const downMutation = mutation({ args: { levels: v.number() }, handler: async (ctx, { levels }): Promise<any> => levels === 0 ? "bottom" : await ctx.runMutation(api.m.downMutation, { levels: levels - 1 }) });
export const caughtDepth = query({ args: {}, handler: async (ctx): Promise<any> => { try { return await ctx.runQuery(api.m.down, { levels: 20 }); } catch { return "caught"; } } });
export const queryMutates = query({ args: {}, handler: async (ctx): Promise<any> => [typeof (ctx as any).runMutation, typeof (ctx as any).runAction, typeof ctx.runQuery] });
export const mutationActs = mutation({ args: {}, handler: async (ctx): Promise<any> => [typeof (ctx as any).runAction, typeof ctx.runMutation, typeof ctx.runQuery] });
export const actionDb = action({ args: {}, handler: async (ctx): Promise<any> => [typeof (ctx as any).db, typeof ctx.runAction, typeof ctx.vectorSearch, typeof ctx.scheduler.runAfter] });
export const catches = mutation({ args: {}, handler: async (ctx): Promise<any> => { await ctx.db.insert("items", { name: "outer" }); try { await ctx.runMutation(api.m.fails, {}); } catch {} return await ctx.runQuery(api.m.names, {}); } });
export const inTurn = mutation({ args: {}, handler: async (ctx): Promise<any> => [await ctx.runMutation(api.m.add, { name: "a" }), await ctx.runMutation(api.m.add, { name: "b" }), await ctx.runQuery(api.m.names, {})] });
export const together = mutation({ args: {}, handler: async (ctx): Promise<any> => (await Promise.all([ctx.runMutation(api.m.add, { name: "a" }), ctx.runMutation(api.m.add, { name: "b" }), ctx.runMutation(api.m.add, { name: "c" })])).sort() });
export const seesOuter = mutation({ args: {}, handler: async (ctx): Promise<any> => { await ctx.db.insert("items", { name: "outer" }); return await ctx.runQuery(api.m.names, {}); } });
export const outerFails = mutation({ args: {}, handler: async (ctx) => { await ctx.runMutation(api.m.add, { name: "inner" }); throw new Error("outer"); } });
export const afterOuter = action({ args: {}, handler: async (ctx): Promise<any> => { await ctx.runMutation(api.m.outerFails, {}).catch(() => {}); return await ctx.runQuery(api.m.names, {}); } });
export const actionTwice = action({ args: {}, handler: async (ctx): Promise<any> => { await ctx.runMutation(api.m.add, { name: "kept" }); await ctx.runMutation(api.m.fails, {}).catch(() => {}); return await ctx.runQuery(api.m.names, {}); } });
export const asText = action({ args: {}, handler: async (ctx): Promise<any> => await ctx.runQuery("m:names" as any, {}) });
export const noArguments = mutation({ args: {}, handler: async (ctx): Promise<any> => await ctx.runQuery(api.m.names) });
export const wrongKind = mutation({ args: {}, handler: async (ctx): Promise<any> => await ctx.runQuery(api.m.fails as any, {}) });
export const undefinedResult = query({ args: {}, handler: async () => undefined });
export const gets = mutation({ args: {}, handler: async (ctx): Promise<any> => await ctx.runQuery(api.m.undefinedResult, {}) });
`,
  ),
};

const call = (kind: "query" | "mutation" | "action", name: string, args = {}): Step => ({
  call: kind,
  path: `m:${name}`,
  args,
});

function row(id: string, rule: string, citation: string, step: Step, expected: Expected): Row {
  return { id: `nested/${id}`, rule, citation, files: FILES, steps: [step], expected };
}

const TOO_DEEP = "Cross component call depth limit exceeded. Do you have an infinite loop in your app?";

export const rows: readonly Row[] = [
  row("depth", "Calls go eight levels down.", KNOBS, call("query", "down", { levels: 8 }), { value: "bottom" }),
  row("too-deep", "They go no further.", KNOBS, call("query", "down", { levels: 9 }), { rejects: TOO_DEEP }),
  row("mutation-depth", "So do calls of mutations.", KNOBS, call("mutation", "downMutation", { levels: 8 }), {
    value: "bottom",
  }),
  row("mutation-too-deep", "They have the same limit.", KNOBS, call("mutation", "downMutation", { levels: 9 }), {
    rejects: TOO_DEEP,
  }),
  row("depth-caught", "The error can be caught.", CALLS, call("query", "caughtDepth"), { value: "caught" }),
  row("query-context", "A query can run queries, and nothing else.", SERVER, call("query", "queryMutates"), {
    value: ["undefined", "undefined", "function"],
  }),
  row("mutation-context", "A mutation can run queries and mutations.", SERVER, call("mutation", "mutationActs"), {
    value: ["undefined", "function", "function"],
  }),
  row("action-context", "An action has no database, but all else.", SERVER, call("action", "actionDb"), {
    value: ["undefined", "function", "function", "function"],
  }),
  row(
    "caught",
    "What a nested mutation wrote before it failed is undone, what came before stays.",
    MUTATIONS,
    call("mutation", "catches"),
    { value: ["outer"] },
  ),
  row("in-turn", "Each sees what the one before wrote.", MUTATIONS, call("mutation", "inTurn"), {
    value: [1, 2, ["a", "b"]],
  }),
  row("together", "Those that are called together run one after the other.", CALLS, call("mutation", "together"), {
    value: [1, 2, 3],
  }),
  row("outer-writes", "A nested query sees what the mutation wrote.", MUTATIONS, call("mutation", "seesOuter"), {
    value: ["outer"],
  }),
  row("outer-fails", "Where the outer one fails, nothing stays.", MUTATIONS, call("action", "afterOuter"), {
    value: [],
  }),
  row(
    "action",
    "Each call of an action is a transaction of its own.",
    "https://docs.convex.dev/functions/actions",
    call("action", "actionTwice"),
    { value: ["kept"] },
  ),
  row(
    "name",
    "A function may be given by its name.",
    "npm convex/src/server/components/paths.ts",
    call("action", "asText"),
    { value: [] },
  ),
  row(
    "no-arguments",
    "Arguments may be left out.",
    "npm convex/src/server/registration.ts",
    call("mutation", "noArguments"),
    { value: [] },
  ),
  row("kind", "What is run as a query is one.", CALLS, call("mutation", "wrongKind"), {
    rejects: "Trying to execute m.js:fails as Query, but it is defined as Mutation.",
  }),
  row(
    "undefined",
    "A nested call that returns undefined gives null.",
    "npm convex/src/server/impl/registration_impl.ts",
    call("mutation", "gets"),
    { value: null },
  ),
];
