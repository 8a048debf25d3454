import { cronJobs } from "convex/server";
import { internal } from "./_generated/api";
// example
