import rateLimiter from "@convex-dev/rate-limiter/convex.config.js";
import { defineApp } from "convex/server";
import stock from "./stock/convex.config";

const app = defineApp();
app.use(rateLimiter);
app.use(stock);
export default app;
