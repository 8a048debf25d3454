import { httpRouter } from "convex/server";
import { internal } from "./_generated/api";
import { httpAction } from "./_generated/server";

const CORS = { "Access-Control-Allow-Origin": "*" };

function json(status: number, body: unknown, headers: Record<string, string> = {}): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { "Content-Type": "application/json", ...headers },
  });
}

/** The answer to a preflight request. */
function preflight(methods: string) {
  return httpAction(async () => {
    return new Response(null, {
      status: 204,
      headers: {
        ...CORS,
        "Access-Control-Allow-Methods": methods,
        "Access-Control-Allow-Headers": "Content-Type",
        "Access-Control-Max-Age": "86400",
      },
    });
  });
}

/** The rest of the path after a prefix. */
function slugOf(request: Request, prefix: string): string {
  return new URL(request.url).pathname.slice(prefix.length);
}

function readLink(body: unknown): { slug: string; url: string } | null {
  if (typeof body !== "object" || body === null) {
    return null;
  }
  const { slug, url } = body as Record<string, unknown>;
  if (typeof slug !== "string" || !/^[a-z0-9-]{1,40}$/.test(slug)) {
    return null;
  }
  if (typeof url !== "string" || !/^https?:\/\/[!-~]+$/.test(url)) {
    return null;
  }
  return { slug, url };
}

const http = httpRouter();

http.route({
  path: "/links",
  method: "POST",
  handler: httpAction(async (ctx, request) => {
    let body: unknown;
    try {
      body = await request.json();
    } catch {
      return json(400, { error: "The body must be JSON" }, CORS);
    }
    const link = readLink(body);
    if (link === null) {
      return json(400, { error: "The body must be an object with a valid slug and url" }, CORS);
    }
    const created = await ctx.runMutation(internal.links.create, link);
    if (!created) {
      return json(409, { error: "There is a link with this slug already" }, CORS);
    }
    return json(201, { ...link, clicks: 0 }, CORS);
  }),
});

http.route({
  path: "/links",
  method: "GET",
  handler: httpAction(async (ctx, request) => {
    const text = new URL(request.url).searchParams.get("limit") ?? "20";
    const limit = Number(text);
    if (!/^\d+$/.test(text) || limit < 1 || limit > 100) {
      return json(400, { error: "limit must be a whole number from 1 to 100" }, CORS);
    }
    return json(200, await ctx.runQuery(internal.links.newest, { limit }), CORS);
  }),
});

http.route({ path: "/links", method: "OPTIONS", handler: preflight("GET, POST") });

for (const method of ["PUT", "PATCH", "DELETE"] as const) {
  http.route({
    path: "/links",
    method,
    handler: httpAction(async () => {
      return json(405, { error: `${method} is not allowed here` }, { ...CORS, Allow: "GET, POST, OPTIONS" });
    }),
  });
}

http.route({
  pathPrefix: "/links/",
  method: "DELETE",
  handler: httpAction(async (ctx, request) => {
    const removed = await ctx.runMutation(internal.links.remove, { slug: slugOf(request, "/links/") });
    if (!removed) {
      return json(404, { error: "There is no such link" }, CORS);
    }
    return new Response(null, { status: 204, headers: CORS });
  }),
});

http.route({ pathPrefix: "/links/", method: "OPTIONS", handler: preflight("DELETE") });

http.route({
  pathPrefix: "/go/",
  method: "GET",
  handler: httpAction(async (ctx, request) => {
    const url = await ctx.runMutation(internal.links.click, { slug: slugOf(request, "/go/") });
    if (url === null) {
      return json(404, { error: "There is no such link" });
    }
    return new Response(null, { status: 302, headers: { Location: url } });
  }),
});

export default http;
