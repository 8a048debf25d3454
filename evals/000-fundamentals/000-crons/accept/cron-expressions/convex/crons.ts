import { cronJobs } from "convex/server";
import { internal } from "./_generated/api";

const jobs = cronJobs();
const { closeStale, writeReport } = internal.maintenance;

jobs.cron("monthly report", "0 8 1 * *", writeReport, { title: "monthly" });
jobs.cron("daily report", "30 6 * * *", writeReport, { title: "daily" });
jobs.interval("close stale tickets", { seconds: 900 }, closeStale, { maxAgeMs: 604_800_000 });

export default jobs;
