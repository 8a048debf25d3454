import { defineApp } from "convex/server";
import log from "./components/auditLog/convex.config.js";

const app = defineApp();
app.use(log, { name: "auditLog" });
export default app;
