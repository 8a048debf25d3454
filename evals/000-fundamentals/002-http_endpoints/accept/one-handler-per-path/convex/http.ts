import { httpRouter, ROUTABLE_HTTP_METHODS } from "convex/server";
import { internal } from "./_generated/api";
import { httpAction, type ActionCtx } from "./_generated/server";

class Refusal extends Error {
  readonly status: number;
  readonly headers: Record<string, string>;

  constructor(status: number, message: string, headers: Record<string, string> = {}) {
    super(message);
    this.status = status;
    this.headers = headers;
  }
}

type Handler = (ctx: ActionCtx, request: Request) => Promise<Response>;

/** Turns refusals into answers, and lets pages of any origin read all answers. */
const open = (handler: Handler) =>
  httpAction(async (ctx, request) => {
    const response = await handler(ctx, request).catch((error: unknown) => {
      if (error instanceof Refusal) return Response.json({ error: error.message }, { status: error.status, headers: error.headers });
      throw error;
    });
    const headers = new Headers(response.headers);
    headers.set("access-control-allow-origin", "*");
    return new Response(response.body, { status: response.status, headers });
  });

const preflight = (methods: string[]) =>
  new Response(null, {
    status: 204,
    headers: { "access-control-allow-headers": "content-type, digest", "access-control-allow-methods": methods.join(",") },
  });

async function add(ctx: ActionCtx, request: Request) {
  const body = (await request.json().catch(() => {
    throw new Refusal(400, "not JSON");
  })) as { slug?: unknown; url?: unknown } | null;
  const slug = body?.slug;
  const url = body?.url;
  if (typeof slug !== "string" || slug.length < 1 || slug.length > 40 || /[^a-z0-9-]/.test(slug)) throw new Refusal(400, "bad slug");
  if (typeof url !== "string" || !/^https?:\/\/./.test(url) || /[^!-~]/.test(url)) throw new Refusal(400, "bad url");
  if ((await ctx.runMutation(internal.links.change, { slug, what: { kind: "add", url } })) === null) throw new Refusal(409, "taken");
  return Response.json({ clicks: 0, slug, url }, { status: 201 });
}

async function list(ctx: ActionCtx, request: Request) {
  const { searchParams } = new URL(request.url);
  const given = searchParams.has("limit") ? String(searchParams.get("limit")) : "20";
  if (!/^([1-9]|[1-9]\d|100)$/.test(given)) throw new Refusal(400, "bad limit");
  return Response.json(await ctx.runQuery(internal.links.page, { count: Number(given) }));
}

const links = open(async (ctx, request) => {
  switch (request.method) {
    case "OPTIONS":
      return preflight(["GET", "HEAD", "POST"]);
    case "POST":
      return await add(ctx, request);
    case "GET":
    case "HEAD":
      return await list(ctx, request);
    default:
      throw new Refusal(405, "no such method", { allow: "OPTIONS,GET,POST" });
  }
});

const http = httpRouter();

for (const method of ROUTABLE_HTTP_METHODS) http.route({ path: "/links", method, handler: links });

http.route({
  pathPrefix: "/go/",
  method: "GET",
  handler: httpAction(async (ctx, { url }) => {
    const [, , slug = "", ...more] = new URL(url).pathname.split("/");
    const target = more.length > 0 ? null : await ctx.runMutation(internal.links.change, { slug, what: { kind: "click" } });
    return target ? new Response(null, { status: 302, headers: { location: target } }) : Response.json({ error: "not found" }, { status: 404 });
  }),
});

http.route({ pathPrefix: "/links/", method: "OPTIONS", handler: open(async () => preflight(["DELETE"])) });
http.route({
  pathPrefix: "/links/",
  method: "DELETE",
  handler: open(async (ctx, request) => {
    const slug = new URL(request.url).pathname.replace("/links/", "");
    if (!(await ctx.runMutation(internal.links.change, { slug, what: { kind: "remove" } }))) throw new Refusal(404, "not found");
    return new Response(undefined, { status: 204 });
  }),
});

export default http;
