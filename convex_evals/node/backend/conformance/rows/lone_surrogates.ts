/** Strings with a surrogate that is alone: JavaScript has them, and no value of Convex does. */

import { moduleFile, schemaFile, type Expected, type Row, type Step } from "../harness.ts";

const SYSCALLS = "get-convex/convex-backend crates/isolate/src/execution_scope.rs";
const RESULTS = "get-convex/convex-backend crates/isolate/src/helpers.rs";
const ARGUMENTS = "get-convex/convex-backend crates/value/src/serialized_args_ext.rs";
const JSON_READ = "https://github.com/serde-rs/json/blob/master/src/read.rs";

const NONE = "args: {}, handler: async (ctx: any): Promise<any>";
const HIGH = '"\\ud800"';

const FILES = {
  ...schemaFile('t: defineTable(v.any()).index("by_k", ["k"])'),
  ...moduleFile(
    "m",
    `
const told = async (run: () => Promise<unknown>): Promise<string> => await run().then(() => "accepted", (error: Error) => error.message.split("\\n")[0]!);
const reason = async (run: () => Promise<unknown>): Promise<string> => (await told(run)).replace(/ at line .*/, "");
export const echo = query({ args: { x: v.any() }, handler: async (_ctx, { x }) => x });
export const change = mutation({ args: { x: v.any() }, handler: async (_ctx, { x }) => x });
export const act = action({ args: { x: v.any() }, handler: async (_ctx, { x }) => x });
export const inserts = mutation({ ${NONE} => {
  const inserted: string[] = [];
  for (const k of ["\\ud800", "\\udc00", "\\ud800\\ud800", "\\udc00\\ud800", "a\\ud800b", "\\ud800\\n", "é\\ud800"]) inserted.push(await told(() => ctx.db.insert("t", { k })));
  return inserted; } });
export const nested = mutation({ ${NONE} => await reason(() => ctx.db.insert("t", { x: 1, y: { z: [1, ${HIGH}] } })) });
export const pairs = mutation({ ${NONE} => { const id = await ctx.db.insert("t", { k: "\\ud83d\\ude00", literal: "\\\\ud800" }); return await ctx.db.get(id).then(({ k, literal }: any) => [k, literal]); } });
export const changes = mutation({ ${NONE} => {
  const id = await ctx.db.insert("t", { k: "a" });
  return [await reason(() => ctx.db.patch(id, { k: ${HIGH} })), await reason(() => ctx.db.replace(id, { k: ${HIGH} })), await reason(() => ctx.db.get(${HIGH}))]; } });
export const reads = query({ ${NONE} => [
  await reason(() => ctx.db.query("t").withIndex("by_k", (q: any) => q.eq("k", ${HIGH})).collect()),
  await reason(() => ctx.db.query("t").filter((q: any) => q.eq(q.field("k"), ${HIGH})).collect())] });
export const calls = mutation({ ${NONE} => [
  await reason(() => ctx.runQuery(api.m.echo, { x: ${HIGH} })),
  await reason(() => ctx.runMutation(api.m.change, { x: ${HIGH} })),
  await reason(() => ctx.scheduler.runAfter(0, api.m.change, { x: ${HIGH} }))] });
export const actionCalls = action({ ${NONE} => [
  await reason(() => ctx.runQuery(api.m.echo, { x: ${HIGH} })),
  await reason(() => ctx.runMutation(api.m.change, { x: ${HIGH} })),
  await reason(() => ctx.runAction(api.m.act, { x: ${HIGH} })),
  await reason(() => ctx.scheduler.runAfter(0, api.m.change, { x: ${HIGH} }))] });
export const deep = mutation({ ${NONE} => { let k: any = 1; for (let level = 0; level < 126; level++) k = [k]; return await told(() => ctx.db.insert("t", { k })); } });
export const gives = query({ ${NONE} => ${HIGH} });
export const writes = mutation({ ${NONE} => { await ctx.db.insert("t", {}); return { deep: [${HIGH}] }; } });
export const does = action({ ${NONE} => ${HIGH} });
export const tries = action({ ${NONE} => { await ctx.runMutation(api.m.writes, {}).catch(() => {}); return (await ctx.runQuery(api.m.written, {})).length; } });
export const written = query({ ${NONE} => await ctx.db.query("t").collect() });
export const gets = action({ ${NONE} => [await told(() => ctx.runQuery(api.m.gives, {})), await told(() => ctx.runAction(api.m.does, {}))] });
export const getsInside = mutation({ ${NONE} => await told(() => ctx.runQuery(api.m.gives, {})) });
export const fails = query({ ${NONE} => { throw new Error("boom \\ud800"); } });
export const failsWithData = query({ ${NONE} => { throw new ConvexError({ k: ${HIGH} }); } });
`,
  ),
  "convex/n.ts": `"use node";
import { action } from "./_generated/server";
export const does = action({ args: {}, handler: async () => ${HIGH} });
`,
};

function row(id: string, rule: string, citation: string, step: Step, expected: Expected): Row {
  return { id: `values/surrogates-${id}`, rule, citation, files: FILES, steps: [step], expected };
}

const query = (path: string, args = {}): Step => ({ call: "query", path, args });
const mutation = (path: string, args = {}): Step => ({ call: "mutation", path, args });
const action = (path: string, args = {}): Step => ({ call: "action", path, args });

const UNFINISHED = "Received invalid json: unexpected end of hex escape";
const UNPAIRED = "Received invalid json: lone leading surrogate in hex escape";
const unread = (path: string, column: number): string =>
  `Function ${path} failed. Could not parse return value as json: unexpected end of hex escape at line 1 column ${column}`;
const INVALID = { rejects: unread("m.js:gives", 8), code: "FunctionReturnInvalidJson" } as const;

export const rows: readonly Row[] = [
  row("insert", "A document has none, and the error says where it was.", JSON_READ, mutation("m:inserts"), {
    value: [
      `${UNFINISHED} at line 1 column 34`,
      `${UNPAIRED} at line 1 column 33`,
      `${UNPAIRED} at line 1 column 39`,
      `${UNPAIRED} at line 1 column 33`,
      `${UNFINISHED} at line 1 column 35`,
      `${UNFINISHED} at line 1 column 35`,
      `${UNFINISHED} at line 1 column 36`,
    ],
  }),
  row("inside", "Nor has a part of it.", SYSCALLS, mutation("m:nested"), { value: UNFINISHED }),
  row("pairs", "Pairs are fine, and so is a text that only looks like an escape.", JSON_READ, mutation("m:pairs"), {
    value: ["\u{1f600}", "\\ud800"],
  }),
  row("changes", "Nor do changes have them, or ids.", SYSCALLS, mutation("m:changes"), {
    value: [UNFINISHED, UNFINISHED, UNFINISHED],
  }),
  row("reads", "Nor do queries of the database.", SYSCALLS, query("m:reads"), { value: [UNFINISHED, UNFINISHED] }),
  row("calls", "Nor do arguments of functions that a mutation calls or schedules.", SYSCALLS, mutation("m:calls"), {
    value: [UNFINISHED, UNFINISHED, UNFINISHED],
  }),
  row("action-calls", "Nor do those of what an action calls or schedules.", SYSCALLS, action("m:actionCalls"), {
    value: [UNFINISHED, UNFINISHED, UNFINISHED, UNFINISHED],
  }),
  row("levels", "The same reader takes 127 levels.", SYSCALLS, mutation("m:deep"), {
    value: "Received invalid json: recursion limit exceeded at line 1 column 152",
  }),
  row("query", "The result of a query has none.", RESULTS, query("m:gives"), INVALID),
  row("mutation", "Nor has that of a mutation, wherever in it.", RESULTS, mutation("m:writes"), {
    rejects: unread("m.js:writes", 17),
  }),
  row("rollback", "Such a mutation leaves nothing behind.", RESULTS, action("m:tries"), { value: 0 }),
  row("action", "Nor has that of an action.", RESULTS, action("m:does"), { rejects: unread("m.js:does", 8) }),
  row("node-action", "Nor has that of an action for Node.js.", RESULTS, action("n:does"), {
    rejects: unread("n.js:does", 8),
  }),
  row("gets", "Who calls such a function can catch its failure.", RESULTS, action("m:gets"), {
    value: [unread("m.js:gives", 8), unread("m.js:does", 8)],
  }),
  row("gets-inside", "So can a mutation.", RESULTS, mutation("m:getsInside"), { value: unread("m.js:gives", 8) }),
  ...(
    [
      ["query", query("m:echo", { x: "\ud800" })],
      ["mutation", mutation("m:change", { x: ["\udc00"] })],
      ["action", action("m:act", { x: { y: "a\ud800b" } })],
    ] as const
  ).map(([id, step]) =>
    row(`sent-${id}`, "A client's request with one is refused.", ARGUMENTS, step, {
      rejects: "Invalid arguments provided",
      code: "InvalidArguments",
    }),
  ),
  row("error", "In the text of an error, U+FFFD stands for one.", RESULTS, query("m:fails"), {
    rejects: "Uncaught Error: boom \ufffd",
  }),
  row("error-data", "An error whose data has one comes without its data.", RESULTS, query("m:failsWithData"), {
    rejects: 'Uncaught ConvexError: {"k":"\\ud800"}',
  }),
];
