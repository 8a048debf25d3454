import { httpRouter } from "convex/server";
import type { Id } from "./_generated/dataModel";
import { internal } from "./_generated/api";
import { httpAction } from "./_generated/server";

const http = httpRouter();
http.route({
  path: "/grant",
  method: "POST",
  handler: httpAction(async (ctx, request) => {
    const { cardId, credits } = (await request.json()) as { cardId: Id<"cards">; credits: number };
    return Response.json(await ctx.runMutation(internal.cards.grant, { cardId, credits }));
  }),
});
export default http;
