import assert from "node:assert/strict";
import { test } from "node:test";
import { parseCronExpression } from "../cron_expression.ts";
import { CronTimers, nextRun } from "../crons.ts";
import type { CronSchedule } from "../runtime_types.ts";
import { api, deploy, errorOf, eventually } from "./harness.ts";

const FILES = {
  "convex/schema.ts": `
    import { defineSchema, defineTable } from "convex/server"; import { v } from "convex/values";
    export default defineSchema({ ticks: defineTable({ name: v.string(), at: v.number() }) });`,
  "convex/jobs.ts": `
    import { query, mutation, internalMutation, internalAction, internalQuery } from "./_generated/server"; import { internal } from "./_generated/api"; import { v } from "convex/values";
    export const tick = internalMutation({ args: { name: v.string() }, handler: async (ctx, { name }) => { await ctx.db.insert("ticks", { name, at: Date.now() }); } });
    export const tickAction = internalAction({ args: { name: v.string() }, handler: async (ctx, args) => { await ctx.runMutation(internal.jobs.tick, args); } });
    export const fails = internalMutation({ args: {}, handler: async () => { throw new Error("job failed"); } });
    export const aQuery = internalQuery({ args: {}, handler: async () => null });
    export const ticks = query({ args: {}, handler: async (ctx) => await ctx.db.query("ticks").collect() });
    export const after = mutation({ args: { ms: v.number(), name: v.string() }, handler: async (ctx, { ms, name }) => ({ id: await ctx.scheduler.runAfter(ms, internal.jobs.tickAction, { name }), due: Date.now() + ms }) });
    export const afterAndFail = mutation({ args: {}, handler: async (ctx) => { await ctx.scheduler.runAfter(0, internal.jobs.tick, { name: "rolled back" }); throw new Error("no"); } });
    export const failing = mutation({ args: {}, handler: async (ctx) => await ctx.scheduler.runAfter(0, internal.jobs.fails, {}) });
    export const cancel = mutation({ args: { id: v.id("_scheduled_functions") }, handler: async (ctx, { id }) => { await ctx.scheduler.cancel(id); } });
    export const state = query({ args: { id: v.id("_scheduled_functions") }, handler: async (ctx, { id }) => await ctx.db.system.get(id) });
    export const scheduleQuery = mutation({ args: {}, handler: async (ctx) => await ctx.scheduler.runAfter(0, internal.jobs.aQuery as any, {}) });
    export const scheduleWrongArgs = mutation({ args: {}, handler: async (ctx) => await ctx.scheduler.runAfter(0, internal.jobs.tick, { name: 1 } as any) });
    export const afterMutation = mutation({ args: {}, handler: async (ctx) => await ctx.scheduler.runAfter(0, internal.jobs.tick, { name: "both" }) });
    export const overview = query({ args: {}, handler: async (ctx) => ({
      together: (await ctx.db.query("ticks").collect()).filter((tick) => tick.name === "both").map((tick) => tick.name),
      states: (await ctx.db.system.query("_scheduled_functions").collect()).filter((job) => (job.args[0] as any).name === "both").map((job) => job.state.kind).filter((kind) => kind !== "pending"),
    }) });
    export const scheduleNothing = mutation({ args: {}, handler: async (ctx) => { await ctx.scheduler.runAfter(0, (internal as any).jobs.nope, {}); } });`,
  "convex/crons.ts": `
    import { cronJobs } from "convex/server"; import { internal } from "./_generated/api";
    const crons = cronJobs();
    crons.interval("each second", { seconds: 1 }, internal.jobs.tick, { name: "cron" });
    crons.daily("daily", { hourUTC: 3, minuteUTC: 30 }, internal.jobs.tick, { name: "daily" });
    crons.weekly("weekly", { dayOfWeek: "tuesday", hourUTC: 1 }, internal.jobs.tick, { name: "weekly" });
    crons.cron("expression", "*/15 * * * *", internal.jobs.tick, { name: "x" });
    export default crons;`,
};

interface Tick {
  readonly name: string;
  readonly at: number;
}

test("scheduled functions", async (t) => {
  const startedMs = Date.now();
  const { http, admin, redeploy, connect } = await deploy(t, FILES);
  const jobs = api.jobs!;
  const tick = (name: string): Promise<Tick> =>
    eventually(async () => ((await http.query(jobs.ticks)) as Tick[]).find((item) => item.name === name));
  const stateOf = async (id: string): Promise<string | undefined> =>
    ((await http.query(jobs.state, { id })) as { state: { kind: string } } | null)?.state.kind;

  await t.test("runs when due and not before", async () => {
    const late = (await http.mutation(jobs.after, { ms: 3_600_000, name: "in an hour" })) as { id: string };
    const { id, due } = (await http.mutation(jobs.after, { ms: 60, name: "soon" })) as { id: string; due: number };
    assert.equal(await stateOf(late.id), "pending");
    const { at } = await tick("soon");
    assert.ok(at >= due, `${at} < ${due}`);
    await eventually(async () => (await stateOf(id)) === "success");
  });

  await t.test("a cancelled job does not run", async () => {
    const { id } = (await http.mutation(jobs.after, { ms: 1_000, name: "cancelled" })) as { id: string };
    await http.mutation(jobs.cancel, { id });
    assert.equal(await stateOf(id), "canceled");
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    assert.ok(!((await http.query(jobs.ticks)) as Tick[]).some((item) => item.name === "cancelled"));
  });

  await t.test("what a failed mutation scheduled does not run", async () => {
    await errorOf(() => http.mutation(jobs.afterAndFail));
    await new Promise((resolve) => setTimeout(resolve, 50));
    assert.ok(!((await http.query(jobs.ticks)) as Tick[]).some((item) => item.name === "rolled back"));
  });

  await t.test("a failing job is recorded as failed", async () => {
    const id = (await http.mutation(jobs.failing)) as string;
    await eventually(async () => (await stateOf(id)) === "failed");
  });

  await t.test("targets have to exist when they are scheduled, and to fit when they run", async () => {
    assert.match(
      (await errorOf(() => http.mutation(jobs.scheduleNothing))).message,
      /no exported function nope found in the file: jobs\.js\. Did you forget to export it\?/,
    );
    for (const [schedule, error] of [
      [jobs.scheduleQuery, /is defined as a Query\. Only Mutation and Action can be scheduled/],
      [jobs.scheduleWrongArgs, /ArgumentValidationError/],
    ] as const) {
      const id = (await http.mutation(schedule)) as string;
      await eventually(async () => (await stateOf(id)) === "failed");
      assert.match(((await http.query(jobs.state, { id })) as { state: { error: string } }).state.error, error);
    }
  });

  await t.test("a mutation and the success of its job are one commit", async () => {
    const client = connect();
    const seen = new Set<string>();
    client.onUpdate(jobs.overview, {}, (value) => seen.add(JSON.stringify(value)));
    await eventually(() => seen.size === 1);
    await http.mutation(jobs.afterMutation);
    await eventually(() => [...seen].some((text) => text.includes('"success"')));
    assert.ok(
      [...seen].every((text) => text.includes('"both"') === text.includes('"success"')),
      [...seen].join("\n"),
    );
  });

  await t.test("a job that is over cannot be cancelled", async () => {
    const id = (await http.mutation(jobs.failing)) as string;
    await eventually(async () => (await stateOf(id)) === "failed");
    await http.mutation(jobs.cancel, { id });
    assert.equal(await stateOf(id), "failed");
  });

  await t.test("a job outlives the deployment that scheduled it", async () => {
    await http.mutation(jobs.after, { ms: 700, name: "next deployment" });
    assert.equal((await redeploy(FILES)).status, 200);
    await tick("next deployment");
  });

  await t.test("crons are listed and fire", async () => {
    const listed = (await admin.query("_system/frontend/listCronJobs" as never)) as {
      name: string;
      cronSpec: { udfPath: string; udfArgs: ArrayBuffer; cronSchedule: object };
    }[];
    assert.deepEqual(
      listed.map((cron) => [cron.name, cron.cronSpec.udfPath, cron.cronSpec.cronSchedule]),
      [
        ["daily", "jobs.js:tick", { type: "daily", hourUTC: 3n, minuteUTC: 30n }],
        ["each second", "jobs.js:tick", { type: "interval", seconds: 1n }],
        ["expression", "jobs.js:tick", { type: "cron", cronExpr: "*/15 * * * *" }],
        ["weekly", "jobs.js:tick", { type: "weekly", dayOfWeek: 2n, hourUTC: 1n }],
      ],
    );
    assert.equal(new TextDecoder().decode(listed[1]!.cronSpec.udfArgs), '[{"name":"cron"}]');
    const fired = await eventually(async () => {
      const ticks = ((await http.query(jobs.ticks)) as Tick[]).filter((item) => item.name === "cron");
      const apartMs = ticks.slice(1).map((item, index) => item.at - ticks[index]!.at);
      // A busy machine is late at times, and brings two of them nearer to each other.
      return ticks.length >= 3 && apartMs.some((ms) => ms >= 900 && ms < 1500) ? ticks : null;
    });
    // At once with each of the two deployments, then each second.
    const seconds = (Date.now() - startedMs) / 1000;
    assert.ok(fired.length <= 2 + seconds, `${fired.length} times in ${seconds} s`);
  });
});

test("cron expressions", async (t) => {
  const from = Date.UTC(2024, 1, 28, 12, 34, 56);
  const next = (expression: string): string | null => {
    const time = parseCronExpression(expression).next(from);
    return time === null ? null : new Date(time).toISOString().slice(0, 16);
  };
  const cases: [string, string | null][] = [
    ["* * * * *", "2024-02-28T12:35"],
    ["0 * * * *", "2024-02-28T13:00"],
    ["*/15 * * * *", "2024-02-28T12:45"],
    ["30 3 * * *", "2024-02-29T03:30"],
    ["0 0 29 2 *", "2024-02-29T00:00"],
    ["0 0 31 * *", "2024-03-31T00:00"],
    ["0 12 * * 1,5", "2024-03-01T12:00"],
    ["0 9 * * MON-FRI", "2024-02-29T09:00"],
    ["0 0 1 JAN *", "2025-01-01T00:00"],
    ["5-10/5 1 * * 0", "2024-03-03T01:05"],
    ["0 0 13 * 5", "2024-03-01T00:00"],
    ["0 0 30 2 *", null],
    ["0 0 */2 * 1", "2024-02-29T00:00"],
    ["7/20,*/25 * * * *", "2024-02-28T12:47"],
    ["0 0 L * *", "2024-02-29T00:00"],
    ["0 0 LW 3 *", "2024-03-29T00:00"],
    ["0 0 16W * *", "2024-03-15T00:00"],
    ["0 0 * * L", "2024-03-02T00:00"],
    ["0 0 * * FRIL", "2024-03-29T00:00"],
    ["0 0 * * 5#2", "2024-03-08T00:00"],
    ["0 0 * * fri#02", "2024-03-08T00:00"],
    ["0 0 * * 005L", "2024-03-29T00:00"],
    ["0 0 015W * *", "2024-03-15T00:00"],
    // What wraps around begins a value early: get-convex/saffron saffron/src/lib.rs, add_ors
    ["50 22-2 * * *", "2024-02-28T21:50"],
    ["40-1 * * * *", "2024-02-28T12:39"],
    ["0 0 * * FRI-SUN", "2024-02-29T00:00"],
    ["0 0 * * SUN-SUN", "2024-03-03T00:00"],
    ["0 0 1 NOV-FEB *", "2024-10-01T00:00"],
    // In steps it does not, and drops the first value of days and months.
    ["0 22-2/2 * * *", "2024-02-28T22:00"],
    ["0 0 * * FRI-SUN/2", "2024-03-01T00:00"],
    ["0 0 25-5/3 3 *", "2024-03-03T00:00"],
    // A star after a comma is the first value.
    ["5,* * * * *", "2024-02-28T13:00"],
    ["40,*-30/10 13 * * *", "2024-02-28T13:00"],
    ["0 0 L-3 * *", "2024-03-28T00:00"],
    ["0 0 L-1 * *", "2024-03-30T00:00"],
    ["0 0 L-1W * *", "2024-03-29T00:00"],
    ["0 0 L-30 * *", "2024-03-01T00:00"],
    ["0 0 L-30W 6-8 *", "2024-07-01T00:00"],
    ["0 0 L-3 * THU", "2024-02-29T00:00"],
    ["0 0 L-29 2 *", null],
  ];
  for (const [expression, expected] of cases) await t.test(expression, () => assert.equal(next(expression), expected));
  for (const bad of [
    "",
    "* * * *",
    "60 * * * *",
    "* 24 * * *",
    "0 12 * * 7",
    "*/0 * * * *",
    "a b c d e",
    "1-2-3 * * * *",
    "? * * * *",
    "*/60 * * * *",
    "0 0 L,15 * *",
    "0 0 15w * *",
    "0 0 * * fril ",
    "0 0 * * 5l",
    "0 0 l-3 * *",
    "0 0 L-31 * *",
    "0 0 L-3,4 * *",
    "*,5 * * * *",
    "*-10 * * * *",
    "1-5/60 * * * *",
    "0 0 * * 5#6",
    "@daily",
    " 0 0 * * *",
  ]) {
    await t.test(`refuses "${bad}"`, () =>
      assert.throws(() => parseCronExpression(bad), /^Error: Failed to parse cron expression$/),
    );
  }
});

test("schedules of every kind come after the present, in UTC", () => {
  const now = Date.UTC(2024, 11, 31, 23, 59, 30);
  const at = (schedule: Parameters<typeof nextRun>[0]): string => new Date(nextRun(schedule, now, now)).toISOString();
  assert.equal(at({ type: "interval", minutes: 2 }), "2025-01-01T00:01:30.000Z");
  assert.equal(at({ type: "hourly", minuteUTC: 5 }), "2025-01-01T00:05:00.000Z");
  assert.equal(at({ type: "daily", hourUTC: 23, minuteUTC: 59 }), "2025-01-01T23:59:00.000Z");
  assert.equal(at({ type: "weekly", dayOfWeek: "tuesday", hourUTC: 0 }), "2025-01-07T00:00:00.000Z");
  assert.equal(at({ type: "monthly", day: 31, hourUTC: 0 }), "2025-01-31T00:00:00.000Z");
  assert.equal(new Date(nextRun({ type: "interval", seconds: 10 }, now + 35_000, now)).getTime(), now + 40_000);
});

test("crons of every kind fire, and none overlaps itself", async (t) => {
  const start = Date.UTC(2024, 11, 31, 22, 59, 30);
  t.mock.timers.enable({ apis: ["setTimeout", "Date"], now: start });
  const schedules: Record<string, CronSchedule> = {
    interval: { type: "interval", hours: 1 },
    hourly: { type: "hourly", minuteUTC: 0 },
    daily: { type: "daily", hourUTC: 1, minuteUTC: 30 },
    weekly: { type: "weekly", dayOfWeek: "wednesday", hourUTC: 0 },
    monthly: { type: "monthly", day: 1, hourUTC: 0, minuteUTC: 5 },
    cron: { type: "cron", cron: "*/30 1 * * *" },
    slow: { type: "interval", minutes: 1 },
  };
  const runs: string[] = [];
  const timers = new CronTimers(async ({ name }) => {
    runs.push(name);
    if (name === "slow") await new Promise(() => {});
  });
  timers.replace(
    Object.entries(schedules).map(([name, schedule]) => ({
      componentPath: "",
      name,
      spec: { name: "jobs:tick", args: [], schedule },
    })),
  );
  for (let minute = 0; minute < 180; minute++) {
    t.mock.timers.tick(60_000);
    await Promise.resolve();
  }
  timers.replace([]);
  const count = (name: string): number => runs.filter((run) => run === name).length;
  // Three hours, from 22:59:30 to 01:59:30 on New Year's day, a Wednesday.
  assert.deepEqual(Object.fromEntries(Object.keys(schedules).map((name) => [name, count(name)])), {
    interval: 4,
    hourly: 3,
    daily: 1,
    weekly: 1,
    monthly: 1,
    cron: 2,
    slow: 1,
  });
});
