import { cronJobs } from "convex/server";
import { internal } from "./_generated/api";

const crons = cronJobs();
crons.interval("prune", { hours: 24 }, internal.notes.prune, { most: 100 });
export default crons;
