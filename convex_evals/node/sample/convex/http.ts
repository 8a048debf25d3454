import { httpRouter } from "convex/server";
import { api } from "./_generated/api";
import { httpAction } from "./_generated/server";

const http = httpRouter();
http.route({
  path: "/notes",
  method: "POST",
  handler: httpAction(async (ctx, request) => {
    const { author, text } = (await request.json()) as { author: string; text: string };
    return Response.json({ id: await ctx.runMutation(api.notes.add, { author, text }) }, { status: 201 });
  }),
});
export default http;
