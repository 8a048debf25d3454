import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { convexToJson } from "convex/values";
import { listCrons, scheduleText } from "../crons.ts";
import type { ReportedSchedule } from "../crons.ts";

const SAME: [ReportedSchedule, string][] = [
  [{ type: "interval", seconds: 900n }, "every 900 s"],
  [{ type: "cron", cronExpr: "*/15 * * * *" }, "every 900 s"],
  [{ type: "cron", cronExpr: "* * * * *" }, "every 60 s"],
  [{ type: "cron", cronExpr: "0 */2 * * *" }, "every 7200 s"],
  [{ type: "hourly", minuteUTC: 5n }, "at 5 * * * *"],
  [{ type: "cron", cronExpr: "05 * * * *" }, "at 5 * * * *"],
  [{ type: "daily", hourUTC: 6n, minuteUTC: 30n }, "at 30 6 * * *"],
  [{ type: "cron", cronExpr: " 30 06  * * * " }, "at 30 6 * * *"],
  [{ type: "weekly", dayOfWeek: 1n, hourUTC: 8n, minuteUTC: 0n }, "at 0 8 * * 1"],
  [{ type: "cron", cronExpr: "0 8 * * mon" }, "at 0 8 * * 1"],
  [{ type: "cron", cronExpr: "0 8 * * 1" }, "at 0 8 * * 1"],
  [{ type: "monthly", day: 1n, hourUTC: 8n, minuteUTC: 0n }, "at 0 8 1 * *"],
  [{ type: "cron", cronExpr: "0 8 1 * *" }, "at 0 8 1 * *"],
];

test("schedules of the same meaning have the same text", () => {
  for (const [schedule, text] of SAME) assert.equal(scheduleText(schedule), text);
});

test("schedules that cannot be told by a period stay expressions", () => {
  assert.equal(scheduleText({ type: "cron", cronExpr: "*/25 * * * *" }), "at */25 * * * *");
  assert.equal(scheduleText({ type: "cron", cronExpr: "0 */2 1 * *" }), "at 0 */2 1 * *");
  assert.equal(scheduleText({ type: "daily", hourUTC: 6n }), "at any 6 * * *");
});

test("what was asked when the project was pushed is not asked again", async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), "facts-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const job = (name: string): object => ({
    name,
    cronSpec: {
      udfPath: "work.js:run",
      udfArgs: new TextEncoder().encode("[{}]").buffer,
      cronSchedule: { type: "interval", seconds: 60n },
    },
  });
  const jobs = (name: string): unknown => convexToJson([job(name)] as never);
  const facts = {
    "_system/frontend/listCronJobs": jobs("b"),
    "_system/frontend/listCronJobs one/two": jobs("a"),
    "_system/frontend/components:list": [{ id: "one/two", path: "one/two" }],
  };
  writeFileSync(path.join(folder, "facts.json"), JSON.stringify(facts));
  // No server listens here: asking again would fail.
  process.env["CONVEX_PORT"] = "1";
  process.env["CONVEX_PROJECT_FACTS"] = path.join(folder, "facts.json");
  const same = { function: "work:run", args: [{}], schedule: "every 60 s" };
  assert.deepEqual(await listCrons(), [
    { name: "a", component: "one/two", ...same },
    { name: "b", ...same },
  ]);
});
