import { cronJobs } from "convex/server";
import { internal } from "./_generated/api";

const crons = cronJobs();
crons.interval("remind the staff", { minutes: 30 }, internal.staff.remind, {});
export default crons;
