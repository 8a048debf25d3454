/** Operations that an action does not await: those still in flight when it ends are dropped. */

import { moduleFile, schemaFile, type Expected, type Files, type Row, type Step } from "../harness.ts";

const ACTIONS = "get-convex/convex-backend crates/isolate/src/environment/action/mod.rs run_inner";
const NAMES = "get-convex/convex-backend crates/isolate/src/environment/action/task.rs name_when_dangling";
const NODE = "get-convex/convex-backend npm-packages/node-executor/src/syscalls.ts assertNoPendingSyscalls";

/** An action `name`, and an HTTP action of the same body. */
const either = (name: string, body: string): Files => ({
  ...moduleFile(
    "started",
    `const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
export const ${name} = action({ args: {}, handler: async (ctx): Promise<any> => { ${body} return null; } });`,
  ),
  ...moduleFile(
    "http",
    `const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const http = httpRouter();
http.route({ path: "/run", method: "POST", handler: httpAction(async (ctx) => { ${body} return new Response("done"); }) });
http.route({ path: "/add", method: "POST", handler: httpAction(async (ctx) => { await ctx.runMutation(internal.m.add, { text: "fetched" }); return new Response("added"); }) });
http.route({ path: "/stream", method: "POST", handler: httpAction(async (ctx) => {
  const body = new ReadableStream({ start: async (controller) => {
    void ctx.runMutation(internal.m.add, { text: "early" });
    await pause(200);
    controller.enqueue(new TextEncoder().encode("streamed"));
    void ctx.runMutation(internal.m.add, { text: "late" });
    controller.close();
  } });
  return new Response(body);
}) });
export default http;`,
  ),
});

const APP: Files = {
  ...schemaFile(
    'items: defineTable({ text: v.string() }), points: defineTable({ at: v.array(v.float64()) }).vectorIndex("by_at", { vectorField: "at", dimensions: 2 })',
  ),
  ...moduleFile(
    "m",
    `
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
export const add = internalMutation({ args: { text: v.string() }, handler: async (ctx, { text }) => { await ctx.db.insert("items", { text }); } });
export const addBoth = internalMutation({ args: {}, handler: async (ctx) => { await ctx.runMutation(internal.m.add, { text: "nested" }); await ctx.db.insert("items", { text: "outer" }); } });
export const items = query({ args: {}, handler: async (ctx) => (await ctx.db.query("items").collect()).map((item) => item.text) });
export const adds = internalAction({ args: {}, handler: async (ctx) => { await ctx.runMutation(internal.m.add, { text: "by an action" }); } });
export const addsTwice = internalAction({ args: {}, handler: async (ctx) => { await ctx.runMutation(internal.m.add, { text: "first" }); await pause(300); await ctx.runMutation(internal.m.add, { text: "second" }); } });
export const jobs = query({ args: {}, handler: async (ctx) => (await ctx.db.system.query("_scheduled_functions").collect()).map((job) => job.state.kind) });
export const files = query({ args: {}, handler: async (ctx) => (await ctx.db.system.query("_storage").collect()).length });
export const store = action({ args: {}, handler: async (ctx) => { await ctx.storage.store(new Blob(["kept"])); } });
export const schedule = action({ args: {}, handler: async (ctx) => { await ctx.scheduler.runAfter(3_600_000, internal.m.add, { text: "scheduled" }); } });
export const fileIds = internalQuery({ args: {}, handler: async (ctx) => (await ctx.db.system.query("_storage").collect()).map((file) => file._id) });
export const jobIds = internalQuery({ args: {}, handler: async (ctx) => (await ctx.db.system.query("_scheduled_functions").collect()).map((job) => job._id) });
`,
  ),
};

const query = (name: string): Step => ({ call: "query", path: `m:${name}` });
const before = (name: string): Step => ({ call: "action", path: `m:${name}` });
const LATER: Step = { waitMs: 300 };

interface Work {
  readonly id: string;
  /** What is not awaited, as the beginning of a sentence. */
  readonly what: string;
  readonly body: string;
  /** The query that shows what came of it, and what it returns. */
  readonly then: readonly [query: string, value: unknown];
  readonly first?: readonly Step[];
}

const ADD = 'ctx.runMutation(internal.m.add, { text: "late" })';

const WORK: readonly Work[] = [
  { id: "mutation", what: "A mutation", body: `void ${ADD};`, then: ["items", []] },
  {
    id: "nested-mutation",
    what: "A mutation that calls another",
    body: "void ctx.runMutation(internal.m.addBoth, {});",
    then: ["items", []],
  },
  {
    id: "many",
    what: "Each of many mutations",
    body: `for (let n = 0; n < 20; n += 1) void ${ADD};`,
    then: ["items", []],
  },
  {
    id: "in-a-loop",
    what: "What callbacks of `forEach` do",
    body: `[1, 2].forEach(async () => { await ${ADD}; });`,
    then: ["items", []],
  },
  {
    id: "after-others",
    what: "A mutation that is begun after others were awaited",
    body: `await ctx.runMutation(internal.m.add, { text: "awaited" }); void ${ADD};`,
    then: ["items", ["awaited"]],
  },
  { id: "action", what: "An action", body: "void ctx.runAction(internal.m.adds, {});", then: ["items", []] },
  {
    id: "half-an-action",
    what: "What is left of an action",
    body: "void ctx.runAction(internal.m.addsTwice, {}); await pause(150);",
    then: ["items", ["first"]],
  },
  {
    id: "schedule",
    what: "The scheduling of a job",
    body: 'void ctx.scheduler.runAfter(0, internal.m.add, { text: "late" });',
    then: ["jobs", []],
  },
  {
    id: "cancel",
    what: "The cancelling of a job",
    first: [before("schedule")],
    body: "const [id] = await ctx.runQuery(internal.m.jobIds, {}); void ctx.scheduler.cancel(id!);",
    then: ["jobs", ["pending"]],
  },
  {
    id: "store",
    what: "The storing of a file",
    body: 'void ctx.storage.store(new Blob(["late"]));',
    then: ["files", 0],
  },
  {
    id: "delete",
    what: "The deleting of a file",
    first: [before("store")],
    body: "const [id] = await ctx.runQuery(internal.m.fileIds, {}); void ctx.storage.delete(id!);",
    then: ["files", 1],
  },
  {
    id: "fetch",
    what: "A request",
    body: 'void fetch(`${process.env.CONVEX_SITE_URL}/add`, { method: "POST" });',
    then: ["items", []],
  },
];

const RUN: Step = { call: "action", path: "started:run" };
const REQUEST: Step = { request: "/run", init: { method: "POST" } };

function row(
  id: string,
  rule: string,
  body: string,
  steps: readonly Step[],
  expected: Expected,
  citation = ACTIONS,
): Row {
  return { id: `unawaited/${id}`, rule, citation, files: { ...APP, ...either("run", body) }, steps, expected };
}

const dropped = ({ id, what, body, then: [name, value], first = [] }: Work): readonly Row[] => [
  row(id, `${what} is dropped with the action that did not await it.`, body, [...first, RUN, LATER, query(name)], {
    value,
  }),
  row(
    `http-${id}`,
    `${what} is dropped with such an HTTP action, too.`,
    body,
    [...first, REQUEST, LATER, query(name)],
    {
      value,
    },
  ),
];

const FAILS = `try { await ctx.runAction(api.started.failing, {}); } catch {} await pause(100);`;

const kept: readonly Row[] = [
  row(
    "done-by-then",
    "What is done by the time that the action ends stays.",
    `void ${ADD}; await pause(200);`,
    [RUN, query("items")],
    { value: ["late"] },
  ),
  row(
    "overtaken",
    "So does a mutation that was done before one that was awaited.",
    `void ${ADD}; await ctx.runMutation(internal.m.add, { text: "awaited" });`,
    [RUN, query("items")],
    { value: ["late", "awaited"] },
  ),
  {
    ...row(
      "throws",
      "An action that throws ends what it started as one that returns.",
      FAILS,
      [RUN, LATER, query("items")],
      { value: [] },
    ),
    files: {
      ...APP,
      ...moduleFile(
        "started",
        `const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
export const failing = action({ args: {}, handler: async (ctx): Promise<any> => { void ${ADD}; throw new Error("failed"); } });
export const run = action({ args: {}, handler: async (ctx): Promise<any> => { ${FAILS} return null; } });`,
      ),
    },
  },
  row(
    "streaming",
    "An HTTP action ends with the body of its response.",
    "",
    [{ request: "/stream", init: { method: "POST" } }, LATER, query("items")],
    { value: ["early"] },
  ),
];

const ADVICE =
  "Async operations should be awaited or they might not run. See https://docs.convex.dev/functions/actions#dangling-promises for more information.";

const logs = (id: string, rule: string, body: string, lines: readonly string[], citation = NAMES): Row =>
  row(
    `warns-${id}`,
    rule,
    body,
    [{ api: "/api/action", body: { path: "started:run", args: {}, format: "json" } }],
    { value: { status: "success", value: null, ...(lines.length === 0 ? {} : { logLines: lines }) } },
    citation,
  );

const warnings: readonly Row[] = [
  logs("mutation", "What was dropped is warned of.", `void ${ADD};`, [
    `[WARN] 1 unawaited operation: [mutation]. ${ADVICE}`,
  ]),
  logs(
    "several",
    "Of several operations, each kind is named once, and all are counted.",
    `void ${ADD}; void ${ADD}; void ctx.runQuery(api.m.items, {}); void ctx.runAction(internal.m.adds, {}); void ctx.vectorSearch("points", "by_at", { vector: [1, 2] });`,
    [`[WARN] 5 unawaited operations: [action, mutation, query, vectorSearch]. ${ADVICE}`],
  ),
  logs(
    "storage",
    "Files and jobs have names of their own.",
    'void ctx.storage.store(new Blob(["late"])); void ctx.scheduler.runAfter(0, internal.m.add, { text: "late" }); void fetch(`${process.env.CONVEX_SITE_URL}/add`, { method: "POST" });',
    [`[WARN] 3 unawaited operations: [fetch, schedule, storage.store]. ${ADVICE}`],
  ),
  logs("done", "What is done by then is not.", `void ${ADD}; await pause(200);`, []),
  logs("sleep", "Timers are not, either.", "void pause(10_000);", []),
  {
    ...logs(
      "node",
      "An action for Node.js warns of each kind of operation.",
      "",
      [
        "[WARN] 'You have an outstanding mutation call. Operations should be awaited or they might not run. Not awaiting promises might result in unexpected failures. See https://docs.convex.dev/functions/actions#dangling-promises for more information.'",
      ],
      NODE,
    ),
    files: {
      ...APP,
      "convex/started.ts": `"use node";\nimport { action } from "./_generated/server";\nimport { internal } from "./_generated/api";\nexport const run = action({ args: {}, handler: async (ctx) => { void ${ADD}; return null; } });`,
    },
  },
];

export const rows: readonly Row[] = [...WORK.flatMap(dropped), ...kept, ...warnings];
