import { internal } from "../_generated/api";
import { httpAction } from "../_generated/server";

export const follow = httpAction(async (ctx, request) => {
  const slug = new URL(request.url).pathname.split("/")[2] ?? "";
  const location = await ctx.runMutation(internal.links.click, { slug });
  if (location !== null) return new Response("Moved", { status: 302, headers: [["location", location]] });
  return new Response('{"error": "unknown"}', { status: 404, headers: [["content-type", "application/json; charset=utf-8"]] });
});
