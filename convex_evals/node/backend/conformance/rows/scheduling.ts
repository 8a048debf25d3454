/** Scheduled functions and crons. */

import { moduleFile, schemaFile, type Expected, type Row, type Step } from "../harness.ts";

const SCHEDULED = "https://docs.convex.dev/scheduling/scheduled-functions";
const VALIDATION = "get-convex/convex-backend crates/udf/src/validation.rs";
const MODEL = "get-convex/convex-backend crates/model/src/scheduled_jobs/mod.rs";
const SYSCALLS = "get-convex/convex-backend crates/isolate/src/environment/udf/async_syscall.rs";
const EXECUTOR = "get-convex/convex-backend crates/application/src/scheduled_jobs/mod.rs";

const FILES = {
  ...schemaFile("ticks: defineTable({ name: v.string() })"),
  ...moduleFile(
    "jobs",
    `
export const tick = internalMutation({ args: { name: v.string() }, handler: async (ctx, { name }) => { await ctx.db.insert("ticks", { name }); } });
export const act = internalAction({ args: {}, handler: async (ctx) => { await ctx.runMutation(internal.jobs.tick, { name: "action" }); } });
export const fails = internalMutation({ args: {}, handler: async (ctx) => { await ctx.db.insert("ticks", { name: "lost" }); throw new Error("job failed"); } });
export const aQuery = internalQuery({ args: {}, handler: async () => null });
export const who = internalMutation({ args: {}, handler: async (ctx) => { await ctx.db.insert("ticks", { name: JSON.stringify(await ctx.auth.getUserIdentity()) }); } });
export const ticks = query({ args: {}, handler: async (ctx) => (await ctx.db.query("ticks").collect()).map((tick) => tick.name) });
export const after = mutation({ args: { path: v.string(), ms: v.optional(v.number()), args: v.optional(v.any()) }, handler: async (ctx, { path, ms, args }): Promise<any> => await ctx.scheduler.runAfter(ms ?? 0, makeFunctionReference<"mutation">(path), args ?? {}) });
export const at = mutation({ args: { ms: v.number() }, handler: async (ctx, { ms }): Promise<any> => await ctx.scheduler.runAt(ms, internal.jobs.tick, { name: "at" }) });
export const fromAction = action({ args: {}, handler: async (ctx): Promise<any> => await ctx.scheduler.runAfter(0, internal.jobs.tick, { name: "from an action" }) });
export const thenFail = mutation({ args: {}, handler: async (ctx) => { await ctx.scheduler.runAfter(0, internal.jobs.tick, { name: "lost" }); throw new Error("no"); } });
export const tryThenFail = action({ args: {}, handler: async (ctx) => { try { await ctx.runMutation(api.jobs.thenFail, {}); } catch {} } });
export const cancel = mutation({ args: { id: v.id("_scheduled_functions") }, handler: async (ctx, { id }) => { await ctx.scheduler.cancel(id); } });
export const job = query({ args: { id: v.id("_scheduled_functions") }, handler: async (ctx, { id }) => { const job = await ctx.db.system.get(id); return job && { name: job.name, args: job.args, state: job.state, completed: typeof job.completedTime, scheduled: typeof job.scheduledTime }; } });
export const late = internalAction({ args: {}, handler: async (ctx) => { await new Promise((resolve) => setTimeout(resolve, 400)); await ctx.scheduler.runAfter(0, internal.jobs.tick, { name: "late" }); await ctx.runMutation(api.jobs.after, { path: "jobs:tick", args: { name: "later" } }); } });
export const remembered = mutation({ args: {}, handler: async (ctx) => { await ctx.db.insert("ticks", { name: await ctx.scheduler.runAfter(0, internal.jobs.itself, {}) }); } });
export const itself = internalMutation({ args: {}, handler: async (ctx) => { const { name } = (await ctx.db.query("ticks").first())!; await ctx.scheduler.cancel(name as any); await ctx.scheduler.runAfter(60_000, internal.jobs.tick, { name: "next" }); } });
export const states = query({ args: {}, handler: async (ctx) => (await ctx.db.system.query("_scheduled_functions").collect()).map((job) => job.state.kind) });
export const list = query({ args: {}, handler: async (ctx) => (await ctx.db.system.query("_scheduled_functions").collect()).length });
`,
  ),
};

const schedule = (path: string, more = {}): Step => ({ call: "mutation", path: "jobs:after", args: { path, ...more } });
const job: Step = { call: "query", path: "jobs:job", args: (results) => ({ id: results[0] }), eventually: true };
const ticks: Step = { call: "query", path: "jobs:ticks", eventually: true };

function row(id: string, rule: string, citation: string, steps: readonly Step[], expected: Expected): Row {
  return { id: `scheduling/${id}`, rule, citation, files: FILES, steps, expected };
}

const accepted: readonly Row[] = [
  row("mutation", "A scheduled mutation runs.", SCHEDULED, [schedule("jobs:tick", { args: { name: "x" } }), ticks], {
    value: ["x"],
  }),
  row("action", "A scheduled action runs.", SCHEDULED, [schedule("jobs:act"), ticks], { value: ["action"] }),
  row("from-action", "Actions schedule too.", SCHEDULED, [{ call: "action", path: "jobs:fromAction" }, ticks], {
    value: ["from an action"],
  }),
  row(
    "at-past",
    "A time in the past means at once.",
    SCHEDULED,
    [{ call: "mutation", path: "jobs:at", args: { ms: Date.UTC(2026, 0, 1) } }, ticks],
    { value: ["at"] },
  ),
  row(
    "pending",
    "A job that waits is pending, with its name and arguments.",
    `${SCHEDULED}#retrieving-scheduled-function-status`,
    [schedule("jobs:tick", { ms: 60_000, args: { name: "x" } }), job],
    {
      value: {
        name: "jobs.js:tick",
        args: [{ name: "x" }],
        state: { kind: "pending" },
        completed: "undefined",
        scheduled: "number",
      },
    },
  ),
  row(
    "success",
    "A job that has run is a success with a time.",
    `${SCHEDULED}#retrieving-scheduled-function-status`,
    [schedule("jobs:tick", { args: { name: "x" } }), job],
    {
      value: {
        name: "jobs.js:tick",
        args: [{ name: "x" }],
        state: { kind: "success" },
        completed: "number",
        scheduled: "number",
      },
    },
  ),
  row(
    "canceled",
    "A cancelled job is canceled, and does not run.",
    `${SCHEDULED}#canceling-scheduled-functions`,
    [
      schedule("jobs:tick", { ms: 100, args: { name: "x" } }),
      { call: "mutation", path: "jobs:cancel", args: (results) => ({ id: results[0] }) },
      { waitMs: 200 },
      ticks,
    ],
    { value: [] },
  ),
  row(
    "canceled-state",
    "Its state says so.",
    `${SCHEDULED}#canceling-scheduled-functions`,
    [
      schedule("jobs:tick", { ms: 60_000, args: { name: "x" } }),
      { call: "mutation", path: "jobs:cancel", args: (results) => ({ id: results[0] }) },
      job,
    ],
    {
      value: {
        name: "jobs.js:tick",
        args: [{ name: "x" }],
        state: { kind: "canceled" },
        completed: "number",
        scheduled: "number",
      },
    },
  ),
  row(
    "canceled-children",
    "What a canceled job still schedules is canceled, by itself or by a mutation that it calls.",
    MODEL,
    [
      schedule("jobs:late"),
      { waitMs: 150 },
      { call: "mutation", path: "jobs:cancel", args: (results) => ({ id: results[0] }) },
      { waitMs: 500 },
      { call: "query", path: "jobs:states", eventually: true },
    ],
    { value: ["canceled", "canceled", "canceled"] },
  ),
  row(
    "cancels-itself",
    "A mutation that cancels itself does not.",
    SYSCALLS,
    [
      { call: "mutation", path: "jobs:remembered" },
      { call: "query", path: "jobs:states", eventually: true },
    ],
    { value: ["success", "pending"] },
  ),
  row(
    "rolled-back",
    "What a failed mutation has scheduled does not run.",
    SCHEDULED,
    [{ call: "action", path: "jobs:tryThenFail" }, { waitMs: 60 }, { call: "query", path: "jobs:list" }],
    { value: 0 },
  ),
  row(
    "failed-rolled-back",
    "A job that fails leaves nothing behind.",
    SCHEDULED,
    [schedule("jobs:fails"), { waitMs: 100 }, ticks],
    { value: [] },
  ),
  row(
    "identity",
    "Scheduled functions run without the identity of who scheduled them.",
    `${SCHEDULED}#auth`,
    [
      {
        call: "mutation",
        path: "jobs:after",
        args: { path: "jobs:who" },
        as: { identity: { subject: "u", issuer: "i" } },
      },
      ticks,
    ],
    { value: ["null"] },
  ),
  row(
    "late-args",
    "Arguments are validated when the job runs, not when it is scheduled.",
    VALIDATION,
    [schedule("jobs:tick", { ms: 60_000, args: { name: 1 } }), { call: "query", path: "jobs:list" }],
    { value: 1 },
  ),
];

const failed = (id: string, rule: string, citation: string, path: string, error: string, args = {}): Row => {
  const files = {
    ...FILES,
    ...moduleFile(
      "state",
      `export const error = query({ args: { id: v.id("_scheduled_functions") }, handler: async (ctx, { id }) => { const state: any = (await ctx.db.system.get(id))?.state; if (state?.kind === "failed") throw new ConvexError(state.error); return state?.kind; } });`,
    ),
  };
  const steps: Step[] = [
    schedule(path, { args }),
    { call: "query", path: "state:error", args: (results) => ({ id: results[0] }), eventually: true },
  ];
  return { id: `scheduling/${id}`, rule, citation, files, steps, expected: { rejects: error } };
};

const refused: readonly Row[] = [
  row("missing-module", "A scheduled function has to exist.", VALIDATION, [schedule("nowhere:fn")], {
    rejects: "Attempted to schedule function at nonexistent path: nowhere.js",
  }),
  row("missing-function", "Its module has to export it.", VALIDATION, [schedule("jobs:nothing")], {
    rejects:
      "Attempted to schedule function, but no exported function nothing found in the file: jobs.js. Did you forget to export it?",
  }),
  row(
    "negative",
    "A delay is not negative.",
    "npm convex/src/server/impl/scheduler_impl.ts",
    [schedule("jobs:tick", { ms: -1, args: { name: "x" } })],
    { rejects: "`delayMs` must be non-negative" },
  ),
  row(
    "infinite",
    "A delay is finite.",
    "npm convex/src/server/impl/scheduler_impl.ts",
    [schedule("jobs:tick", { ms: Infinity, args: { name: "x" } })],
    { rejects: "`delayMs` must be a finite number" },
  ),
  row(
    "far-future",
    "Nothing is scheduled more than five years ahead.",
    VALIDATION,
    [schedule("jobs:tick", { ms: 10 * 365 * 24 * 3600 * 1000, args: { name: "x" } })],
    { rejects: "more than 5 years in the future" },
  ),
  row(
    "far-past",
    "Nothing is scheduled more than five years back.",
    VALIDATION,
    [{ call: "mutation", path: "jobs:at", args: { ms: Date.UTC(2000, 0, 1) } }],
    { rejects: "more than 5 years in the past" },
  ),
  failed(
    "failed",
    "A job that throws is failed, with the error.",
    EXECUTOR,
    "jobs:fails",
    "Uncaught Error: job failed",
  ),
  failed(
    "query",
    "Queries do not run as jobs.",
    EXECUTOR,
    "jobs:aQuery",
    "is defined as a Query. Only Mutation and Action can be scheduled.",
  ),
  failed(
    "arguments",
    "A job whose arguments do not validate fails.",
    EXECUTOR,
    "jobs:tick",
    "ArgumentValidationError: Value does not match validator",
    { name: 1 },
  ),
];

export const rows: readonly Row[] = [...accepted, ...refused];
