import assert from "node:assert/strict";
import { test } from "node:test";
import { scheduleText } from "../crons.ts";
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
