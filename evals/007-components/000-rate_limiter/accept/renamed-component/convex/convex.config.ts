import { defineApp } from "convex/server";
import limits from "@convex-dev/rate-limiter/convex.config";

const app = defineApp();
app.use(limits, { name: "postingLimits" });
export default app;
