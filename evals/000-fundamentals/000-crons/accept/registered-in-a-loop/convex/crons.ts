import { cronJobs } from "convex/server";
import { internal } from "./_generated/api";
import { DAY } from "./model/time";

const crons = cronJobs();

const reports = [
  { title: "daily", day: "*", time: "30 6" },
  { title: "monthly", day: "1", time: "0 8" },
];

for (const { title, day, time } of reports) {
  crons.cron(`${title} report`, `${time} ${day} * *`, internal.maintenance.writeReport, { title });
}

crons.cron("close stale tickets", "*/15 * * * *", internal.maintenance.closeStale, { maxAgeMs: 7 * DAY });

export default crons;
