import { httpRouter } from "convex/server";
import { internal } from "./_generated/api";
import { httpAction } from "./_generated/server";
import { receive } from "./deliveries";
import { postMessage } from "./messages";

const http = httpRouter();

http.route({ path: "/postMessage", method: "POST", handler: postMessage });

http.route({
  pathPrefix: "/getAuthorMessages/",
  method: "GET",
  handler: httpAction(async (ctx, request) => {
    const author = decodeURIComponent(new URL(request.url).pathname.split("/").at(-1) ?? "");
    return Response.json((await ctx.runQuery(internal.messages.listByAuthor, { author })).map((message) => message.body));
  }),
});

http.route({ pathPrefix: "/webhooks/", method: "POST", handler: receive });

// A longer prefix wins, and an exact path wins over both.
http.route({ pathPrefix: "/webhooks/internal/", method: "POST", handler: httpAction(async () => new Response("Not here", { status: 403 })) });
http.route({ path: "/webhooks/ping", method: "POST", handler: httpAction(async () => new Response("pong")) });

http.route({
  path: "/export",
  method: "GET",
  handler: httpAction(async (ctx) => {
    const encoder = new TextEncoder();
    const authors = ["User 123", "User 456"];
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        const author = authors.shift();
        if (author === undefined) return controller.close();
        const messages = await ctx.runQuery(internal.messages.listByAuthor, { author });
        for (const message of messages) controller.enqueue(encoder.encode(`${JSON.stringify([author, message.body])}\n`));
        if (messages.length === 0) controller.enqueue(encoder.encode(`${JSON.stringify([author])}\n`));
      },
    });
    return new Response(body, { headers: { "content-type": "application/x-ndjson" } });
  }),
});

export default http;
