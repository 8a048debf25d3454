/** As in https://docs.convex.dev/scheduling/cron-jobs */
import { cronJobs } from "convex/server";
import { internal } from "./_generated/api";

const crons = cronJobs();
crons.interval("tick every second", { seconds: 1 }, internal.reminders.tick, { source: "interval" });
crons.monthly("payment reminder", { day: 1, hourUTC: 16, minuteUTC: 0 }, internal.reminders.tick, { source: "monthly" });
crons.cron("tick on the hour", "0 * * * *", internal.reminders.tick, { source: "cron" });
export default crons;
