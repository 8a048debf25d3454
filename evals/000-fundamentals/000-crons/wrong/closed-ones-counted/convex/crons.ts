import { cronJobs } from "convex/server";
import { internal } from "./_generated/api";

const DAY_MS = 24 * 60 * 60 * 1000;

const crons = cronJobs();

crons.interval(
  "close stale tickets",
  { minutes: 15 },
  internal.maintenance.closeStale,
  { maxAgeMs: 7 * DAY_MS },
);

crons.daily(
  "daily report",
  { hourUTC: 6, minuteUTC: 30 },
  internal.maintenance.writeReport,
  { title: "daily" },
);

crons.monthly(
  "monthly report",
  { day: 1, hourUTC: 8, minuteUTC: 0 },
  internal.maintenance.writeReport,
  { title: "monthly" },
);

export default crons;
