import aggregate from "@convex-dev/aggregate/convex.config.js";
import { defineApp } from "convex/server";

const app = defineApp();
app.use(aggregate, { name: "places" });
app.use(aggregate, { name: "totals" });
export default app;
