import { v } from "convex/values";
import { query } from "./_generated/server";
// example
