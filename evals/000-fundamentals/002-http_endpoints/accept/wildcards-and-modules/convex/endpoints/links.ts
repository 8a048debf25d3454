import { ConvexError } from "convex/values";
import { internal } from "../_generated/api";
import { httpAction } from "../_generated/server";

function reply(status: number, body?: object) {
  const headers = new Headers({ "Access-Control-Allow-Origin": "*", Vary: "Origin" });
  if (body === undefined) return new Response(null, { status, headers });
  headers.set("Content-Type", "application/json; charset=utf-8");
  return new Response(JSON.stringify(body, null, 2), { status, headers });
}

export const preflight = httpAction(async () => {
  const response = reply(204);
  response.headers.append("Access-Control-Allow-Methods", "*");
  response.headers.append("Access-Control-Allow-Headers", "*");
  return response;
});

export const notAllowed = httpAction(async () => {
  const response = reply(405, { error: "not allowed" });
  for (const method of ["GET", "POST", "OPTIONS"]) response.headers.append("Allow", method);
  return response;
});

export const add = httpAction(async (ctx, request) => {
  const text = await request.text();
  try {
    return reply(201, await ctx.runMutation(internal.links.add, { text }));
  } catch (error) {
    if (error instanceof ConvexError) return reply(error.data as number, { error: "refused" });
    throw error;
  }
});

export const list = httpAction(async (ctx, request) => {
  const limits = new URL(request.url).searchParams.getAll("limit");
  const limit = limits.length === 0 ? 20 : /^[0-9]{1,3}$/.test(limits[0] ?? "") ? Number(limits[0]) : 0;
  if (limit < 1 || limit > 100) return reply(400, { error: "limit" });
  return reply(200, await ctx.runQuery(internal.links.list, { limit }));
});

export const remove = httpAction(async (ctx, request) => {
  const slug = new URL(request.url).pathname.split("/").slice(2).join("/");
  const removed = await ctx.runMutation(internal.links.remove, { slug });
  return removed ? reply(204) : reply(404, { error: "unknown" });
});
