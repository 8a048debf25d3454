import type rateLimiter from "@convex-dev/rate-limiter/convex.config.js";
import { defineApp } from "convex/server";

export type Limiter = typeof rateLimiter;
const app = defineApp();

export default app;
