import { cronJobs } from "convex/server";
import { closeStale, writeReport } from "./maintenance";

const crons = cronJobs();

crons.interval(
  "close stale tickets",
  { minutes: 15 },
  closeStale,
  { maxAgeMs: 7 * 24 * 60 * 60 * 1000 },
);

crons.daily(
  "daily report",
  { hourUTC: 6, minuteUTC: 30 },
  writeReport,
  { title: "daily" },
);

crons.monthly(
  "monthly report",
  { day: 1, hourUTC: 8, minuteUTC: 0 },
  writeReport,
  { title: "monthly" },
);

export default crons;
