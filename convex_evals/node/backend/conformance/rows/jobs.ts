/** Scheduled functions that are canceled, and those that schedule others. */

import { moduleFile, schemaFile, type Expected, type Row, type Step } from "../harness.ts";

const MODEL = "get-convex/convex-backend crates/model/src/scheduled_jobs/mod.rs";
const VIRTUAL = "get-convex/convex-backend crates/model/src/scheduled_jobs/virtual_table.rs";
const SCHEDULED = "https://docs.convex.dev/scheduling/scheduled-functions";

const FILES = {
  ...schemaFile('ticks: defineTable({ name: v.string() }), ids: defineTable({ id: v.id("_scheduled_functions") })'),
  ...moduleFile(
    "j",
    `
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
export const tick = internalMutation({ args: { name: v.string() }, handler: async (ctx, { name }) => { await ctx.db.insert("ticks", { name }); } });
export const slow = internalAction({ args: {}, handler: async (ctx): Promise<any> => { await ctx.runMutation(internal.j.tick, { name: "started" }); await pause(300); await ctx.runMutation(internal.j.scheduleNext, {}); await ctx.scheduler.runAfter(0, internal.j.tick, { name: "by the action" }); } });
export const scheduleNext = internalMutation({ args: {}, handler: async (ctx) => { const id = await ctx.scheduler.runAfter(0, internal.j.tick, { name: "by its mutation" }); await ctx.db.insert("ids", { id }); } });
export const start = mutation({ args: { slow: v.optional(v.boolean()), ms: v.optional(v.number()) }, handler: async (ctx, { slow, ms }): Promise<any> => slow ? await ctx.scheduler.runAfter(0, internal.j.slow, {}) : await ctx.scheduler.runAfter(ms ?? 0, internal.j.tick, { name: "ran" }) });
export const cancel = mutation({ args: { id: v.id("_scheduled_functions") }, handler: async (ctx, { id }) => { await ctx.scheduler.cancel(id); } });
export const cancelInAction = action({ args: { id: v.id("_scheduled_functions") }, handler: async (ctx, { id }) => { await ctx.scheduler.cancel(id); } });
export const cancelAndFail = mutation({ args: { id: v.id("_scheduled_functions") }, handler: async (ctx, { id }) => { await ctx.scheduler.cancel(id); throw new Error("no"); } });
export const tryCancel = action({ args: { id: v.id("_scheduled_functions") }, handler: async (ctx, { id }) => { await ctx.runMutation(api.j.cancelAndFail, { id }).catch(() => {}); } });
export const cancelOwn = mutation({ args: {}, handler: async (ctx): Promise<any> => { const id = await ctx.scheduler.runAfter(0, internal.j.tick, { name: "own" }); await ctx.scheduler.cancel(id); return (await ctx.db.system.get(id))?.state.kind; } });
export const state = query({ args: { id: v.id("_scheduled_functions") }, handler: async (ctx, { id }) => { const job = await ctx.db.system.get(id); return job && [job.state.kind, typeof job.completedTime]; } });
export const nextState = query({ args: {}, handler: async (ctx): Promise<any> => { const next = await ctx.db.query("ids").first(); return next && ((await ctx.db.system.get(next.id)) as any)?.state.kind; } });
export const ticks = query({ args: {}, handler: async (ctx) => (await ctx.db.query("ticks").collect()).map((tick) => tick.name) });
export const remove = mutation({ args: { id: v.id("_scheduled_functions") }, handler: async (ctx, { id }) => { await (ctx.db as any).delete(id); } });
export const patch = mutation({ args: { id: v.id("_scheduled_functions") }, handler: async (ctx, { id }) => { await (ctx.db as any).patch(id, { name: "x" }); } });
`,
  ),
};

const start = (args = {}): Step => ({ call: "mutation", path: "j:start", args });
const withId = (call: "query" | "mutation" | "action", path: string): Step => ({
  call,
  path: `j:${path}`,
  args: (results) => ({ id: results[0] }),
});
const state: Step = { ...withId("query", "state"), eventually: true };
const ticks: Step = { call: "query", path: "j:ticks" };
const wait = (waitMs: number): Step => ({ waitMs });

function row(id: string, rule: string, citation: string, steps: readonly Step[], expected: Expected): Row {
  return { id: `jobs/${id}`, rule, citation, files: FILES, steps, expected };
}

export const rows: readonly Row[] = [
  row(
    "cancel-twice",
    "A job may be canceled twice.",
    MODEL,
    [start({ ms: 60_000 }), withId("mutation", "cancel"), withId("mutation", "cancel"), state],
    {
      value: ["canceled", "number"],
    },
  ),
  row(
    "cancel-success",
    "A job that has run stays a success.",
    MODEL,
    [start(), wait(150), withId("mutation", "cancel"), state],
    {
      value: ["success", "number"],
    },
  ),
  row(
    "cancel-action",
    "Actions cancel too.",
    SCHEDULED,
    [start({ ms: 60_000 }), withId("action", "cancelInAction"), state],
    {
      value: ["canceled", "number"],
    },
  ),
  row(
    "cancel-rollback",
    "A mutation that fails cancels nothing.",
    SCHEDULED,
    [start({ ms: 60_000 }), withId("action", "tryCancel"), state],
    {
      value: ["pending", "undefined"],
    },
  ),
  row(
    "cancel-own",
    "A mutation cancels what it has scheduled itself.",
    MODEL,
    [{ call: "mutation", path: "j:cancelOwn" }],
    {
      value: "canceled",
    },
  ),
  row(
    "cancel-running",
    "An action that runs is canceled, and its state stays so.",
    MODEL,
    [start({ slow: true }), wait(150), withId("mutation", "cancel"), wait(400), state],
    {
      value: ["canceled", "number"],
    },
  ),
  row(
    "cancel-next",
    "What a canceled action still schedules is canceled.",
    MODEL,
    [start({ slow: true }), wait(150), withId("mutation", "cancel"), wait(500), ticks],
    {
      value: ["started"],
    },
  ),
  row(
    "cancel-next-state",
    "Its state says so.",
    MODEL,
    [start({ slow: true }), wait(150), withId("mutation", "cancel"), wait(500), { call: "query", path: "j:nextState" }],
    {
      value: "canceled",
    },
  ),
  row("delete", "Jobs are not deleted by functions.", VIRTUAL, [start({ ms: 60_000 }), withId("mutation", "remove")], {
    rejects: /./,
  }),
  row("patch", "Nor are they changed.", VIRTUAL, [start({ ms: 60_000 }), withId("mutation", "patch")], {
    rejects: /./,
  }),
];
