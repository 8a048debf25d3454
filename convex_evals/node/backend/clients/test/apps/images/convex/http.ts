/** Upload and download through HTTP actions, with CORS as in https://docs.convex.dev/functions/http-actions#cors */
import { httpRouter } from "convex/server";
import { api } from "./_generated/api";
import type { Id } from "./_generated/dataModel";
import { httpAction } from "./_generated/server";

const ORIGIN = "https://app.example.com";
const http = httpRouter();

http.route({
  path: "/sendImage",
  method: "POST",
  handler: httpAction(async (ctx, request) => {
    const author = new URL(request.url).searchParams.get("author");
    if (author === null) return new Response("author is missing", { status: 400 });
    const storageId = await ctx.storage.store(await request.blob());
    await ctx.runMutation(api.messages.sendImage, { storageId, author });
    return new Response(null, { status: 200, headers: new Headers({ "Access-Control-Allow-Origin": ORIGIN, Vary: "origin" }) });
  }),
});

http.route({
  path: "/sendImage",
  method: "OPTIONS",
  handler: httpAction(async (_ctx, request) => {
    const isPreflight = request.headers.has("Origin") && request.headers.has("Access-Control-Request-Method");
    if (!isPreflight) return new Response();
    return new Response(null, {
      headers: new Headers({
        "Access-Control-Allow-Origin": ORIGIN,
        "Access-Control-Allow-Methods": "POST",
        "Access-Control-Allow-Headers": "Content-Type, Digest",
        "Access-Control-Max-Age": "86400",
      }),
    });
  }),
});

http.route({
  path: "/getImage",
  method: "GET",
  handler: httpAction(async (ctx, request) => {
    const storageId = new URL(request.url).searchParams.get("storageId") as Id<"_storage">;
    const blob = await ctx.storage.get(storageId);
    return blob === null ? new Response("Image not found", { status: 404 }) : new Response(blob);
  }),
});

export default http;
