import { httpRouter } from "convex/server";
import { api } from "./_generated/api";
import { httpAction } from "./_generated/server";

const http = httpRouter();
http.route({
  path: "/tasks",
  method: "GET",
  handler: httpAction(async (ctx) => Response.json(await ctx.runQuery(api.tasks.list, {}))),
});
export default http;
