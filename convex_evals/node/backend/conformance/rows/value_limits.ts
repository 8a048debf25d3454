/** How many items, fields and levels arguments and results may have. */

import type { Value } from "convex/values";
import { moduleFile, schemaFile, type Expected, type Row, type Step } from "../harness.ts";

const LIMITS = "https://docs.convex.dev/production/state/limits#functions";
const ARRAYS = "get-convex/convex-backend crates/value/src/array.rs";
const OBJECTS = "get-convex/convex-backend crates/value/src/object.rs";
const LEVELS = "get-convex/convex-backend crates/value/src/size.rs";
const ARGUMENTS = "get-convex/convex-backend crates/udf/src/helpers.rs";
const NESTED = "get-convex/convex-backend crates/isolate/src/environment/udf/async_syscall.rs";
const SCHEDULED = "get-convex/convex-backend crates/udf/src/validation.rs";
const RESULTS = "get-convex/convex-backend crates/isolate/src/helpers.rs";

const TOO_LONG = "Array length is too long (8193 > maximum length 8192)";
const TOO_WIDE = "Object has too many fields (1025 > maximum number 1024)";
const TOO_DEEP = "Value is too nested (nested 65 levels deep > maximum nesting 64)";

const array = (length: number): Value => Array<Value>(length).fill(0);
const object = (fields: number): Value =>
  Object.fromEntries(Array.from({ length: fields }, (_, at): [string, Value] => [`f${at}`, at]));
const levels = (count: number): Value => (count === 0 ? 1 : [levels(count - 1)]);

// The same three in the app.
const MADE = `
const array = (length: number): any => Array(length).fill(0);
const object = (fields: number): any => Object.fromEntries(Array.from({ length: fields }, (_, at) => ["f" + at, at]));
const levels = (count: number): any => (count === 0 ? 1 : [levels(count - 1)]);
const made = ({ kind, size }: any): any => (({ array, object, levels } as any)[kind](size));
const TOO_LARGE = [{ kind: "array", size: 8193 }, { kind: "object", size: 1025 }, { kind: "levels", size: 65 }];
const failures = async (run: (too: any) => Promise<unknown>): Promise<any> => {
  const messages: string[] = [];
  for (const too of TOO_LARGE) messages.push(await run(too).then(() => "accepted", (error: Error) => error.message.split("\\n")[0]!));
  return messages;
};
`;
const x = "args: { x: v.any() }, handler: async (ctx: any, { x }: any): Promise<any>";
const NONE = "args: {}, handler: async (ctx: any): Promise<any>";

const FILES = {
  ...schemaFile("t: defineTable(v.any())"),
  ...moduleFile(
    "m",
    `${MADE}
export const sized = query({ args: v.any(), handler: async (_ctx: any, { x }: any): Promise<any> => Object.keys(x).length });
export const changed = mutation({ ${x} => Object.keys(x).length });
export const acted = action({ ${x} => Object.keys(x).length });
export const many = query({ ${x} => made(x) });
export const wrote = mutation({ ${x} => { await ctx.db.insert("t", {}); return made(x); } });
export const written = query({ ${NONE} => (await ctx.db.query("t").collect()).length });
export const tries = action({ ${NONE} => { await ctx.runMutation(api.m.wrote, { x: TOO_LARGE[0] }).catch(() => {}); } });
export const did = action({ ${x} => made(x) });
export const threw = query({ ${x} => { throw new ConvexError(made(x)); } });
export const queryCalls = query({ ${NONE} => await failures((too) => ctx.runQuery(api.m.sized, { x: made(too) })) });
export const mutationCalls = mutation({ ${NONE} => await failures((too) => ctx.runMutation(api.m.changed, { x: made(too) })) });
export const listed = query({ ${NONE} => await ctx.runQuery(api.m.sized, { x: levels(63) }) });
export const actionCalls = action({ ${NONE} => [...await failures((too) => ctx.runQuery(api.m.sized, { x: made(too) })), ...await failures((too) => ctx.runMutation(api.m.changed, { x: made(too) })), ...await failures((too) => ctx.runAction(api.m.acted, { x: made(too) })), ...await failures((too) => ctx.runAction(api.n.acted, { x: made(too) }))] });
export const mutationSchedules = mutation({ ${NONE} => await failures((too) => ctx.scheduler.runAfter(0, api.m.changed, { x: made(too) })) });
export const actionSchedules = action({ ${NONE} => await failures((too) => ctx.scheduler.runAfter(0, api.m.changed, { x: made(too) })) });
export const queryGets = query({ ${NONE} => await failures((too) => ctx.runQuery(api.m.many, { x: too })) });
export const mutationGets = mutation({ ${NONE} => await failures((too) => ctx.runMutation(api.m.wrote, { x: too })) });
export const actionGets = action({ ${NONE} => [...await failures((too) => ctx.runQuery(api.m.many, { x: too })), ...await failures((too) => ctx.runMutation(api.m.wrote, { x: too })), ...await failures((too) => ctx.runAction(api.m.did, { x: too })), ...await failures((too) => ctx.runAction(api.n.did, { x: too }))] });
`,
  ),
  "convex/n.ts": `"use node";
import { action } from "./_generated/server";
import { api } from "./_generated/api";
import { v } from "convex/values";
${MADE}
export const acted = action({ ${x} => Object.keys(x).length });
export const did = action({ ${x} => made(x) });
export const actionCalls = action({ ${NONE} => await failures((too) => ctx.runQuery(api.m.sized, { x: made(too) })) });
`,
};

function row(id: string, rule: string, citation: string, steps: readonly Step[], expected: Expected): Row {
  return { id: `values/${id}`, rule, citation, files: FILES, steps, expected };
}

const query = (path: string, args = {}): Step => ({ call: "query", path, args });
const mutation = (path: string, args = {}): Step => ({ call: "mutation", path, args });
const action = (path: string, args = {}): Step => ({ call: "action", path, args });

const refused = (told: (reason: string) => string): readonly string[] => [TOO_LONG, TOO_WIDE, TOO_DEEP].map(told);
const argumentsOf = (path: string): readonly string[] =>
  refused((reason) => `Invalid arguments for ${path}: ${reason}`);
const resultsOf = (path: string): readonly string[] =>
  refused((reason) => `Function ${path} return value invalid: ${reason}`);
const alone = (message: string): Expected => ({ rejects: `Server Error\n${message}` });

const sent: readonly Row[] = [
  ...(
    [
      ["query", query("m:sized", { x: array(8193) }), "m.js:sized"],
      ["mutation", mutation("m:changed", { x: array(8193) }), "m.js:changed"],
      ["action", action("m:acted", { x: array(8193) }), "m.js:acted"],
      ["node-action", action("n:acted", { x: array(8193) }), "n.js:acted"],
    ] as const
  ).map(([id, step, path]) =>
    row(
      `arguments-${id}`,
      "A list in arguments has at most 8192 items, whatever the function is.",
      ARRAYS,
      [step],
      alone(`Invalid arguments for ${path}: ${TOO_LONG}`),
    ),
  ),
  row("arguments-items", "8192 items are fine.", LIMITS, [query("m:sized", { x: array(8192) })], { value: 8192 }),
  row(
    "arguments-inside",
    "Lists inside of others are counted alike.",
    ARRAYS,
    [query("m:sized", { x: { a: [array(8193)] } })],
    alone(`Invalid arguments for m.js:sized: ${TOO_LONG}`),
  ),
  row(
    "arguments-fields",
    "An object in arguments has at most 1024 fields.",
    OBJECTS,
    [query("m:sized", { x: object(1025) })],
    alone(`Invalid arguments for m.js:sized: ${TOO_WIDE}`),
  ),
  row("arguments-fields-below", "1024 fields are fine.", LIMITS, [query("m:sized", { x: object(1024) })], {
    value: 1024,
  }),
  row(
    "arguments-named",
    "So has the object of the arguments itself.",
    OBJECTS,
    [query("m:sized", object(1025) as object)],
    alone(`Invalid arguments for m.js:sized: ${TOO_WIDE}`),
  ),
  row(
    "arguments-levels",
    "Values are nested at most 64 levels.",
    ARGUMENTS,
    [query("m:sized", { x: levels(65) })],
    alone("Invalid arguments for m.js:sized: Value is too nested (nested 65 levels deep > maximum nesting 64)"),
  ),
];

const called: readonly Row[] = [
  row("calls-query", "Arguments of queries that queries call have the same limits.", NESTED, [query("m:queryCalls")], {
    value: refused((reason) => `Invalid argument \`args\` for \`runUdf\`: ${reason}`),
  }),
  row("calls-mutation", "So have those of mutations that mutations call.", NESTED, [mutation("m:mutationCalls")], {
    value: refused((reason) => `Invalid argument \`args\` for \`runUdf\`: ${reason}`),
  }),
  row("calls-listed", "The list that they are in counts here, too.", NESTED, [query("m:listed")], {
    rejects: `Uncaught Error: ${TOO_DEEP}`,
  }),
  row("calls-action", "So have those of whatever actions call.", ARGUMENTS, [action("m:actionCalls")], {
    value: ["m.js:sized", "m.js:changed", "m.js:acted", "n.js:acted"].flatMap(argumentsOf),
  }),
  row(
    "calls-node-action",
    "So have those of whatever actions for Node.js call.",
    ARGUMENTS,
    [action("n:actionCalls")],
    {
      value: argumentsOf("m.js:sized"),
    },
  ),
  row(
    "schedules-mutation",
    "What is scheduled has them when it is scheduled.",
    SCHEDULED,
    [mutation("m:mutationSchedules")],
    { value: argumentsOf("m.js:changed") },
  ),
  row("schedules-action", "So has what actions schedule.", SCHEDULED, [action("m:actionSchedules")], {
    value: argumentsOf("m.js:changed"),
  }),
];

const given: readonly Row[] = [
  ...(
    [
      ["query", query("m:many", { x: { kind: "array", size: 8193 } }), "m.js:many"],
      ["mutation", mutation("m:wrote", { x: { kind: "array", size: 8193 } }), "m.js:wrote"],
      ["action", action("m:did", { x: { kind: "array", size: 8193 } }), "m.js:did"],
      ["node-action", action("n:did", { x: { kind: "array", size: 8193 } }), "n.js:did"],
    ] as const
  ).map(([id, step, path]) =>
    row(
      `result-${id}`,
      "A list in a result has at most 8192 items, whatever the function is.",
      RESULTS,
      [step],
      alone(`Function ${path} return value invalid: ${TOO_LONG}`),
    ),
  ),
  row("result-items", "8192 items are fine.", LIMITS, [query("m:many", { x: { kind: "array", size: 8192 } })], {
    value: array(8192),
  }),
  row(
    "result-fields",
    "An object in a result has at most 1024 fields.",
    RESULTS,
    [query("m:many", { x: { kind: "object", size: 1025 } })],
    alone(`Function m.js:many return value invalid: ${TOO_WIDE}`),
  ),
  row(
    "result-levels",
    "A result is nested at most 64 levels.",
    RESULTS,
    [query("m:many", { x: { kind: "levels", size: 65 } })],
    alone(`Function m.js:many return value invalid: ${TOO_DEEP}`),
  ),
  row(
    "result-levels-below",
    "It is in no list, other than arguments: 64 levels are fine.",
    LEVELS,
    [query("m:many", { x: { kind: "levels", size: 64 } })],
    { value: levels(64) },
  ),
  row(
    "result-rollback",
    "A mutation whose result is refused leaves nothing behind.",
    RESULTS,
    [action("m:tries"), query("m:written")],
    { value: 0 },
  ),
  row("gets-query", "Results of queries that queries call have the same limits.", RESULTS, [query("m:queryGets")], {
    value: resultsOf("m.js:many"),
  }),
  row("gets-mutation", "So have those of mutations that mutations call.", RESULTS, [mutation("m:mutationGets")], {
    value: resultsOf("m.js:wrote"),
  }),
  row("gets-action", "So have those of whatever actions call.", RESULTS, [action("m:actionGets")], {
    value: ["m.js:many", "m.js:wrote", "m.js:did", "n.js:did"].flatMap(resultsOf),
  }),
  row(
    "error-data",
    "So has the data of an error.",
    RESULTS,
    [query("m:threw", { x: { kind: "array", size: 8193 } })],
    alone(`ConvexError with invalid data: ${TOO_LONG}`),
  ),
];

export const rows: readonly Row[] = [...sent, ...called, ...given];
