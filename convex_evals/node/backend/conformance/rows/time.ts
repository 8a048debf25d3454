/** Time: of modules when they are loaded, of functions and what they call, and of documents. */

import { moduleFile, type Expected, type Files, type Row, type Step } from "../harness.ts";

const UDF_PHASE = "get-convex/convex-backend crates/isolate/src/environment/udf/phase.rs";
const ACTION_PHASE = "get-convex/convex-backend crates/isolate/src/environment/action/phase.rs";
const PERFORMANCE = "get-convex/convex-backend crates/isolate/src/environment/helpers/performance.rs";
const NESTED = "get-convex/convex-backend crates/isolate/src/environment/udf/async_syscall.rs start_nested_udf";
const START_PUSH = "get-convex/convex-backend crates/application/src/deploy_config.rs start_push";
const DOCUMENT = "get-convex/convex-backend crates/common/src/document.rs CreationTime";
const DATE = "get-convex/convex-backend npm-packages/udf-runtime/src/00_date.ts";
const TEMPORAL = "get-convex/convex-backend npm-packages/udf-runtime/src/00_temporal.ts";

/** What a module finds while it is loaded. */
const LOADED = `
const loaded = { now: Date.now(), date: new Date().getTime(), text: Date(), random: Math.random(), uuid: crypto.randomUUID(), bytes: [...crypto.getRandomValues(new Uint8Array(4))], elapsed: performance.now(), origin: performance.timeOrigin };
`;

/** Waits for \`ms\` of the real clock, which a mutation's \`performance\` shows. */
const SPIN = `
const spin = (ms: number): void => { const until = performance.now() + ms; while (performance.now() < until); };
`;

const APP: Files = {
  ...moduleFile(
    "m",
    `${LOADED}${SPIN}
export const q = query({ args: {}, handler: async () => loaded });
export const m = mutation({ args: {}, handler: async () => loaded });
export const a = action({ args: {}, handler: async () => loaded });
export const all = query({ args: {}, handler: async (ctx): Promise<any> => await ctx.runQuery(components.inner.c.loaded, {}) });
export const since = query({ args: { then: v.number() }, handler: async (ctx, { then }) => [loaded.now > then, Date.now() >= loaded.now] });
export const chance = query({ args: {}, handler: async () => [Math.random(), crypto.randomUUID()] });
export const fixed = query({ args: {}, handler: async () => { const at = performance.now(); for (let i = 0; i < 1e6; i++); return [performance.now() - at, performance.timeOrigin + at - Date.now(), performance.timeOrigin - loaded.now]; } });
export const runs = mutation({ args: {}, handler: async () => { const at = performance.now(); const day = Date.now(); spin(20); const later = performance.now(); return [performance.timeOrigin + at >= day - 0.1, later - at > 19, Date.now() - day, Math.abs(later * 10 - Math.round(later * 10)) < 1e-4, performance.timeOrigin - loaded.now]; } });
export const acts = action({ args: {}, handler: async () => { const at = performance.now(); const day = Date.now(); await new Promise((resolve) => setTimeout(resolve, 20)); return [Math.abs(performance.timeOrigin + at - day) < 1000, performance.now() - at > 15, Date.now() - day > 15, Math.abs(at * 10 - Math.round(at * 10)) < 1e-4, performance.timeOrigin - loaded.now, loaded.now <= day]; } });
export const nowQuery = query({ args: {}, handler: async () => Date.now() });
export const nowMutation = mutation({ args: {}, handler: async () => Date.now() });
export const deep = mutation({ args: {}, handler: async (ctx): Promise<number> => { spin(5); return await ctx.runMutation(api.m.nowMutation, {}); } });
export const nested = mutation({ args: {}, handler: async (ctx): Promise<any> => { const at = Date.now(); const found = []; for (const run of [() => ctx.runQuery(api.m.nowQuery, {}), () => ctx.runMutation(api.m.nowMutation, {}), () => ctx.runMutation(api.m.deep, {}), () => ctx.runQuery(components.inner.c.nowQuery, {}), () => ctx.runMutation(components.inner.c.nowMutation, {})]) { spin(5); found.push((await run()) - at); } return [...found, Date.now() - at]; } });
export const nestedQuery = query({ args: {}, handler: async (ctx): Promise<any> => { const at = Date.now(); for (let i = 0; i < 2e7; i++); return [(await ctx.runQuery(api.m.nowQuery, {})) - at, (await ctx.runQuery(components.inner.c.nowQuery, {})) - at]; } });
export const own = action({ args: {}, handler: async (ctx): Promise<any> => { const at: number = await ctx.runMutation(api.m.nowMutation, {}); await new Promise((resolve) => setTimeout(resolve, 20)); return [(await ctx.runMutation(api.m.nowMutation, {})) - at >= 15, (await ctx.runQuery(api.m.nowQuery, {})) - at >= 15]; } });
const after = (a: number, b: number): boolean => b > a && ((a + b) / 2 === a || (a + b) / 2 === b);
export const add = mutation({ args: {}, handler: async (ctx) => (await ctx.db.get(await ctx.db.insert("items", {})))!._creationTime });
export const created = mutation({ args: {}, handler: async (ctx): Promise<any> => { spin(5); const times: number[] = []; for (let i = 0; i < 3; i++) { times.push((await ctx.db.get(await ctx.db.insert("items", {})))!._creationTime); spin(5); } times.push(await ctx.runMutation(api.m.add, {}), await ctx.runMutation(components.inner.c.add, {}), (await ctx.db.get(await ctx.db.insert("others", {})))!._creationTime); return [times.slice(1).every((time, at) => after(times[at]!, time)), Math.floor(times[0]!) - Date.now()]; } });
export const fraction = mutation({ args: {}, handler: async (ctx) => { for (let i = 0; i < 3; i++) await ctx.db.insert("items", {}); return (await ctx.db.query("items").collect()).some((item) => item._creationTime % 1 !== 0); } });
export const later = mutation({ args: { than: v.number() }, handler: async (ctx, { than }) => [(await ctx.db.get(await ctx.db.insert("items", {})))!._creationTime > than, Date.now() >= Math.floor(than)] });
export const classes = query({ args: {}, handler: async () => { class Mine extends Date { mine() { return 1; } } const mine: any = new Mine(5); return [new Date(2020, 0, 1).getTime() === Date.UTC(2020, 0, 1), new Date("2020-01-01T00:00:00Z").getTime(), new Date(new Date(7)).getTime(), typeof mine.mine, mine instanceof Date, mine.getTime(), Date.length, Date.name, new Date(0).constructor === Date, (Date as any)(2020) === new Date().toString()]; } });
export const mocked = query({ args: {}, handler: async () => { Date.now = () => 5; return [new Date().getTime(), new Date(6).getTime()]; } });
export const formats = mutation({ args: {}, handler: async () => { const format = new Intl.DateTimeFormat("en", { second: "numeric", fractionalSecondDigits: 3 }); const texts = () => [format.format(), format.format(undefined), format.formatToParts().map((part) => part.value).join("")]; spin(20); return [texts().every((text) => text === format.format(Date.now())), format.format === format.format, format.format(new Date(1250)), format.formatToParts(1250).length]; } });
`,
  ),
  "convex/schema.ts":
    'import { defineSchema, defineTable } from "convex/server"; export default defineSchema({ items: defineTable({}), others: defineTable({}) });',
  "convex/convex.config.ts":
    'import { defineApp } from "convex/server"; import inner from "./inner/convex.config"; const app = defineApp(); app.use(inner); export default app;',
  "convex/inner/convex.config.ts":
    'import { defineComponent } from "convex/server"; export default defineComponent("inner");',
  "convex/inner/schema.ts":
    'import { defineSchema, defineTable } from "convex/server"; export default defineSchema({ items: defineTable({}) });',
  "convex/inner/c.ts": `import { query, mutation } from "./_generated/server";
const now = Date.now();
export const loaded = query({ args: {}, handler: async () => now });
export const nowQuery = query({ args: {}, handler: async () => Date.now() });
export const nowMutation = mutation({ args: {}, handler: async () => Date.now() });
export const add = mutation({ args: {}, handler: async (ctx) => (await ctx.db.get(await ctx.db.insert("items", {})))!._creationTime });
`,
};

/** The same modules, pushed once more. */
const AGAIN: Files = { ...APP, "convex/more.ts": "export const more = 1;" };

type Kind = "query" | "mutation" | "action";

const call = (kind: Kind, name: string, args?: Extract<Step, { call: string }>["args"]): Step => ({
  call: kind,
  path: `m:${name}`,
  ...(args === undefined ? {} : { args }),
});

function row(id: string, rule: string, citation: string, steps: readonly Step[], expected: Expected): Row {
  return { id: `time/${id}`, rule, citation, files: APP, steps, expected };
}

const compare = moduleFile(
  "compare",
  "export const same = query({ args: { all: v.array(v.any()) }, handler: async (ctx, { all }) => all.every((one) => JSON.stringify(one) === JSON.stringify(all[0])) });",
);

const wait: Step = { waitMs: 15 };

function comparison(id: string, rule: string, citation: string, steps: readonly Step[], same: boolean): Row {
  const same_: Step = {
    call: "query",
    path: "compare:same",
    args: (results) => ({ all: results.filter((result) => result !== null) }),
  };
  return {
    id: `time/${id}`,
    rule,
    citation,
    files: { ...APP, ...compare },
    steps: [...steps, same_],
    expected: { value: same },
  };
}

const loading: readonly Row[] = [
  comparison(
    "loaded",
    "Whenever a module is loaded, it finds the time and the chance of the push.",
    UDF_PHASE,
    [call("query", "q"), wait, call("query", "q"), call("mutation", "m"), wait, call("mutation", "m")],
    true,
  ),
  comparison(
    "loaded-by-actions",
    "So it does for actions.",
    ACTION_PHASE,
    [call("query", "q"), wait, call("action", "a"), wait, call("action", "a")],
    true,
  ),
  comparison(
    "chance",
    "Each execution has chance of its own.",
    UDF_PHASE,
    [call("query", "chance"), call("query", "chance")],
    false,
  ),
  row(
    "loaded-again",
    "A push has a time of its own, before that of each call.",
    START_PUSH,
    [call("query", "nowQuery"), wait, { deploy: AGAIN }, call("query", "since", (results) => ({ then: results[0] }))],
    { value: [true, true] },
  ),
  row(
    "loaded-components",
    "Components are loaded at the time of the app.",
    "get-convex/convex-backend crates/application/src/deploy_config.rs evaluate_components",
    [call("query", "all"), call("query", "since", (results) => ({ then: (results[0] as number) - 1 }))],
    { value: [true, true] },
  ),
  row(
    "loaded-components-same",
    "It is not a moment later either.",
    "get-convex/convex-backend crates/application/src/deploy_config.rs evaluate_components",
    [call("query", "all"), call("query", "since", (results) => ({ then: results[0] }))],
    { value: [false, true] },
  ),
  {
    id: "time/loaded-performance",
    rule: "While a module is loaded, `performance` stands at its beginning, which is the time of the push.",
    citation: PERFORMANCE,
    files: moduleFile(
      "m",
      `${LOADED}export const run = query({ args: {}, handler: async () => [loaded.elapsed, loaded.origin - loaded.now, loaded.date - loaded.now, loaded.text === new Date(loaded.now).toString()] });`,
    ),
    steps: [wait, { call: "query", path: "m:run" }],
    expected: { value: [0, 0, 0, true] },
  },
];

const functions: readonly Row[] = [
  row(
    "performance-query",
    "The `performance` of a query stands at its time, counted from the push.",
    PERFORMANCE,
    [wait, call("query", "fixed")],
    { value: [0, 0, 0] },
  ),
  row(
    "performance-mutation",
    "That of a mutation goes on from there, by tenths of milliseconds, while `Date` stands still.",
    PERFORMANCE,
    [wait, call("mutation", "runs")],
    { value: [true, true, 0, true, 0] },
  ),
  row("performance-action", "In an action both go on.", PERFORMANCE, [wait, call("action", "acts")], {
    value: [true, true, true, true, 0, true],
  }),
  row("nested", "What a mutation calls has its time, in components too.", NESTED, [call("mutation", "nested")], {
    value: [0, 0, 0, 0, 0, 0],
  }),
  row("nested-query", "What a query calls has its time.", NESTED, [call("query", "nestedQuery")], { value: [0, 0] }),
  row("called-by-action", "What an action calls has a time of its own.", ACTION_PHASE, [call("action", "own")], {
    value: [true, true],
  }),
  row("date", "`Date` makes plain dates, also for what extends it.", DATE, [call("query", "classes")], {
    value: [true, 1577836800000, 7, "undefined", true, 5, 0, "Date", true, true],
  }),
  row("date-now", "`new Date()` asks `Date.now`, whatever that is.", DATE, [call("query", "mocked")], {
    value: [5, 6],
  }),
  row(
    "intl",
    "Without a date, `Intl.DateTimeFormat` formats the time of `Date`.",
    TEMPORAL,
    [call("mutation", "formats")],
    {
      value: [true, true, "1.250", 3],
    },
  ),
];

const documents: readonly Row[] = [
  row(
    "creation",
    "The first document of a transaction has the time of its start, each further one the next number, whichever function inserts it.",
    DOCUMENT,
    [call("mutation", "created")],
    { value: [true, 0] },
  ),
  row("creation-fraction", "Creation times have fractions of milliseconds.", DOCUMENT, [call("mutation", "fraction")], {
    value: true,
  }),
  row(
    "creation-later",
    "A later transaction has a later time.",
    "get-convex/convex-backend crates/database/src/transaction.rs",
    [call("mutation", "add"), call("mutation", "later", (results) => ({ than: results[0] }))],
    { value: [true, true] },
  ),
];

export const rows: readonly Row[] = [...loading, ...functions, ...documents];
