import { httpRouter } from "convex/server";
import { internal } from "./_generated/api";
import { httpAction } from "./_generated/server";

const http = httpRouter();

http.route({
  path: "/orders",
  method: "POST",
  handler: httpAction(async (ctx, request) => {
    const text = await request.text();
    const { item, count } = JSON.parse(text) as { item: string; count: number };
    const digest = await ctx.runAction(internal.digest.sha256, { text });
    const id = await ctx.runMutation(internal.orders.store, { item, count, digest });
    return Response.json({ id }, { status: 201 });
  }),
});

http.route({
  pathPrefix: "/orders/",
  method: "GET",
  handler: httpAction(async (ctx, request) => {
    const item = decodeURIComponent(new URL(request.url).pathname.slice("/orders/".length));
    return Response.json(await ctx.runQuery(internal.orders.counts, { item }));
  }),
});

export default http;
