import { cronJobs } from "convex/server";
import { internal } from "./_generated/api";

const crons = cronJobs();
crons.interval("end unfinished runs", { minutes: 10 }, internal.runs.failUnfinished, {});
export default crons;
