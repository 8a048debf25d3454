import { defineApp } from "convex/server";
import helpdesk from "./helpdesk/convex.config";

const app = defineApp();
app.use(helpdesk);
export default app;
