import { httpRouter } from "convex/server";
import { internal } from "./_generated/api";
import { httpAction } from "./_generated/server";

const LINKS = "/links";
const LINK_PREFIX = "/links/";
const GO_PREFIX = "/go/";

const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 100;

const CORS = { "Access-Control-Allow-Origin": "*" };

type HeaderMap = Record<string, string>;

function json(status: number, body: unknown, headers: HeaderMap = {}) {
  return new Response(JSON.stringify(body), {
    status,
    headers: { "Content-Type": "application/json", ...headers },
  });
}

function failure(status: number, error: string, headers: HeaderMap = {}) {
  return json(status, { error }, headers);
}

function preflight(methods: string) {
  return httpAction(async () => {
    return new Response(null, {
      status: 204,
      headers: {
        ...CORS,
        "Access-Control-Allow-Methods": methods,
        "Access-Control-Allow-Headers": "Content-Type",
      },
    });
  });
}

function isSlug(value: unknown): value is string {
  return typeof value === "string" && /^[a-z0-9-]{1,40}$/.test(value);
}

function isUrl(value: unknown): value is string {
  return typeof value === "string" && /^https?:\/\/[!-~]+$/.test(value);
}

/** The slug at the end of the path; null if what is there cannot be one. */
function slugFromPath(request: Request, prefix: string): string | null {
  const { pathname } = new URL(request.url);
  try {
    const slug = decodeURIComponent(pathname.slice(prefix.length));
    return isSlug(slug) ? slug : null;
  } catch {
    return null;
  }
}

/** The link in the body of a request; null if there is no valid one. */
async function readLink(request: Request) {
  let body: unknown;
  try {
    body = await request.json();
  } catch {
    return null;
  }
  if (typeof body !== "object" || body === null) {
    return null;
  }
  const { slug, url } = body as { slug?: unknown; url?: unknown };
  return isSlug(slug) && isUrl(url) ? { slug, url } : null;
}

/** The wanted number of links; null if it is not one that we allow. */
function readLimit(request: Request): number | null {
  const raw = new URL(request.url).searchParams.get("limit");
  if (raw === null) {
    return DEFAULT_LIMIT;
  }
  if (!/^[0-9]+$/.test(raw)) {
    return null;
  }
  const limit = Number(raw);
  return limit >= 1 && limit <= MAX_LIMIT ? limit : null;
}

const createLink = httpAction(async (ctx, request) => {
  const wanted = await readLink(request);
  if (wanted === null) {
    return failure(400, "Expected a JSON object with a valid slug and url", CORS);
  }
  const link = await ctx.runMutation(internal.links.create, wanted);
  if (link === null) {
    return failure(409, `The slug "${wanted.slug}" is taken`, CORS);
  }
  return json(201, link, CORS);
});

const listLinks = httpAction(async (ctx, request) => {
  const limit = readLimit(request);
  if (limit === null) {
    return failure(400, `limit must be a whole number from 1 to ${MAX_LIMIT}`, CORS);
  }
  const links = await ctx.runQuery(internal.links.newest, { limit });
  return json(200, links, CORS);
});

const deleteLink = httpAction(async (ctx, request) => {
  const slug = slugFromPath(request, LINK_PREFIX);
  const deleted =
    slug !== null && (await ctx.runMutation(internal.links.remove, { slug }));
  return deleted
    ? new Response(null, { status: 204, headers: CORS })
    : failure(404, "There is no such link", CORS);
});

const followLink = httpAction(async (ctx, request) => {
  const slug = slugFromPath(request, GO_PREFIX);
  const url =
    slug === null ? null : await ctx.runMutation(internal.links.click, { slug });
  if (url === null) {
    return failure(404, "There is no such link");
  }
  return new Response(null, {
    status: 302,
    headers: { Location: url },
  });
});

const methodNotAllowed = httpAction(async () => {
  return failure(405, "Method not allowed", { Allow: "GET, POST, OPTIONS" });
});

const http = httpRouter();

http.route({ path: LINKS, method: "POST", handler: createLink });
http.route({ path: LINKS, method: "GET", handler: listLinks });
http.route({ path: LINKS, method: "OPTIONS", handler: preflight("GET, POST") });
for (const method of ["PUT", "PATCH", "DELETE"] as const) {
  http.route({ path: LINKS, method, handler: methodNotAllowed });
}

http.route({ pathPrefix: LINK_PREFIX, method: "DELETE", handler: deleteLink });
http.route({
  pathPrefix: LINK_PREFIX,
  method: "OPTIONS",
  handler: preflight("DELETE"),
});

http.route({ pathPrefix: GO_PREFIX, method: "GET", handler: followLink });

export default http;
