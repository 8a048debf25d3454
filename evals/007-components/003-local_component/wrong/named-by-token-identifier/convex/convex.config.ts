import { defineApp } from "convex/server";
import auditLog from "./components/auditLog/convex.config";

const app = defineApp();
app.use(auditLog, { name: "auditLog" });

export default app;
