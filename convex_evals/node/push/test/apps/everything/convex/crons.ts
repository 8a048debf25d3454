import { cronJobs } from "convex/server";
import { internal } from "./_generated/api";

const crons = cronJobs();
crons.interval("prune", { hours: 1 }, internal.tasks.prune, {});
export default crons;
