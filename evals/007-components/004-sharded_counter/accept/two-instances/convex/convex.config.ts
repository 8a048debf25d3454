import counter from "@convex-dev/sharded-counter/convex.config";
import { defineApp } from "convex/server";

const app = defineApp();
app.use(counter, { name: "views" });
app.use(counter, { name: "likes" });
export default app;
