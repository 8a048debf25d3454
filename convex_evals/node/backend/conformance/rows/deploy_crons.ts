/** Routers and crons. */

import { moduleFile, type Files, type Row } from "../harness.ts";

const ANALYZE = "get-convex/convex-backend crates/isolate/src/environment/analyze.rs";
const CRONS = "get-convex/convex-backend crates/model/src/cron_jobs/types.rs";
const SAFFRON = "https://github.com/get-convex/saffron saffron/src/parse.rs";
const CRON_TARGETS = "get-convex/convex-backend crates/application/src/application_function_runner/mod.rs";
const JOB =
  "export const job = internalMutation({ args: {}, handler: async () => {} });\nexport const q = internalQuery({ args: {}, handler: async () => 1 });";
const cron = (body: string): Files => ({
  ...moduleFile("m", JOB),
  ...moduleFile("crons", `const crons = cronJobs();\n${body}\nexport default crons;`),
});

const http: readonly Row[] = [
  {
    id: "deploy/http",
    rule: "http.ts exports a router.",
    citation: "https://docs.convex.dev/functions/http-actions",
    files: moduleFile(
      "http",
      'const http = httpRouter();\nhttp.route({ path: "/hi", method: "GET", handler: httpAction(async () => new Response("hello")) });\nexport default http;',
    ),
    steps: [{ request: "/hi" }],
    expected: { value: { status: 200, body: "hello" } },
  },
  {
    id: "deploy/http-no-default",
    rule: "http.ts has a default export.",
    citation: ANALYZE,
    files: moduleFile("http", "export const x = 1;"),
    expected: { rejects: "`convex/http.js` must have a default export of a Router.", code: "InvalidModules" },
  },
  {
    id: "deploy/http-wrong-default",
    rule: "The default export of http.ts is a router.",
    citation: ANALYZE,
    files: moduleFile("http", "export default {};"),
    expected: { rejects: "The default export of `convex/http.js` is not a Router.", code: "InvalidModules" },
  },
];

const crons: readonly Row[] = [
  {
    id: "deploy/crons",
    rule: "Crons of every kind may call internal and public functions.",
    citation: "https://docs.convex.dev/scheduling/cron-jobs",
    files: cron(
      'crons.interval("i", { minutes: 5 }, internal.m.job); crons.hourly("h", { minuteUTC: 0 }, internal.m.job); crons.daily("d", { hourUTC: 23, minuteUTC: 59 }, internal.m.job); crons.weekly("w", { dayOfWeek: "monday", hourUTC: 0, minuteUTC: 0 }, internal.m.job); crons.monthly("m", { day: 31, hourUTC: 0, minuteUTC: 0 }, internal.m.job); crons.cron("c", "*/5 0-6 * * 1-5", internal.m.job);',
    ),
    expected: { accepts: true },
  },
  {
    id: "deploy/crons-no-default",
    rule: "crons.ts has a default export.",
    citation: ANALYZE,
    files: moduleFile("crons", "export const x = 1;"),
    expected: { rejects: "`convex/crons.js` must have a default export of a Crons object.", code: "InvalidModules" },
  },
  {
    id: "deploy/crons-wrong-default",
    rule: "The default export of crons.ts is a Crons object.",
    citation: ANALYZE,
    files: moduleFile("crons", "export default [];"),
    expected: { rejects: "The default export of `convex/crons.js` is not a Crons object.", code: "InvalidModules" },
  },
  {
    id: "deploy/cron-unknown-function",
    rule: "A cron's function exists.",
    citation: CRON_TARGETS,
    files: cron('crons.interval("clean up", { hours: 1 }, (internal as any).m.nope);'),
    expected: {
      rejects: "The cron job 'clean up' schedules a function that does not exist: m.js:nope",
      code: "InvalidModules",
    },
  },
  {
    id: "deploy/cron-query",
    rule: "A cron does not call a query.",
    citation: CRON_TARGETS,
    files: cron('crons.interval("ask", { hours: 1 }, (internal as any).m.q);'),
    expected: {
      rejects: "The cron job 'ask' schedules a query function, only actions and mutations can be scheduled: m.js:q",
      code: "InvalidModules",
    },
  },
  {
    id: "deploy/cron-expression",
    rule: "Cron expressions are valid.",
    citation: CRONS,
    files: cron('crons.cron("c", "61 * * * *", internal.m.job);'),
    expected: { rejects: "Failed to parse cron expression", code: "InvalidCron" },
  },
  {
    id: "deploy/cron-never",
    rule: "Cron expressions have a next time.",
    citation: "get-convex/convex-backend crates/model/src/cron_jobs/mod.rs",
    files: cron('crons.cron("c", "0 0 30 2 *", internal.m.job);'),
    expected: { rejects: "Could not compute next timestamp for cron", code: "InvalidCron" },
  },
  {
    id: "deploy/cron-wraps-around",
    rule: "Ranges of cron expressions may wrap around, days may be counted from the end of a month, and a list may have a star.",
    citation: SAFFRON,
    files: cron(
      'crons.cron("night", "0 22-2 * * *", internal.m.job); crons.cron("end", "0 0 L-3 * *", internal.m.job); crons.cron("star", "5,* * * * *", internal.m.job);',
    ),
    expected: { accepts: true },
  },
  {
    id: "deploy/cron-last-day",
    rule: "Cron expressions may name the last day of a month, the nearest weekday, and the nth of a weekday.",
    citation: SAFFRON,
    files: cron(
      'crons.cron("last", "0 0 L * *", internal.m.job); crons.cron("near", "0 0 15W * *", internal.m.job); crons.cron("nth", "0 0 * * MON#2", internal.m.job);',
    ),
    expected: { accepts: true },
  },
  {
    id: "deploy/cron-long-step",
    rule: "A step is shorter than its field.",
    citation: SAFFRON,
    files: cron('crons.cron("c", "*/60 * * * *", internal.m.job);'),
    expected: { rejects: "Failed to parse cron expression", code: "InvalidCron" },
  },
  {
    id: "deploy/cron-interval-units",
    rule: "An interval has one unit.",
    citation: "npm convex/src/server/cron.ts",
    files: cron('crons.interval("i", { hours: 1, minutes: 1 } as any, internal.m.job);'),
    expected: { rejects: "Must specify one of seconds, minutes, or hours", code: "InvalidModules" },
  },
  {
    id: "deploy/cron-name",
    rule: "Cron names are ASCII.",
    citation: "npm convex/src/server/cron.ts",
    files: cron('crons.interval("küche", { hours: 1 }, internal.m.job);'),
    expected: {
      rejects: "Invalid cron identifier küche: use ASCII letters that are not control characters",
      code: "InvalidModules",
    },
  },
];

export const rows: readonly Row[] = [...http, ...crons];
