/** What is served to anyone: the leaderboard as JSON, badges; and, with a token, runs whole. */
import { httpRouter } from "convex/server";
import { api, internal } from "./_generated/api";
import { httpAction } from "./_generated/server";
import { badge, colourOf } from "./badge";

const CORS = {
  "access-control-allow-origin": "*",
  "access-control-allow-methods": "GET, OPTIONS",
  "access-control-allow-headers": "if-none-match",
  "access-control-expose-headers": "etag",
};
// Whatever a browser makes of an answer, nothing in it is executed or fetched.
const INERT = { "x-content-type-options": "nosniff", "content-security-policy": "default-src 'none'" };
const CACHED = "public, max-age=60";
const EXPERIMENTS = ["no_guidelines", "web_search", "web_search_no_guidelines", "agents_md"] as const;
const BADGES = "/api/badge/";

type Experiment = (typeof EXPERIMENTS)[number];

/** Undefined for the default one, null for one that there is not. */
function experimentOf(url: URL): Experiment | undefined | null {
  const text = url.searchParams.get("experiment") ?? "default";
  return text === "default" ? undefined : (EXPERIMENTS.find((name) => name === text) ?? null);
}

async function etagOf(body: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(body));
  const bytes = [...new Uint8Array(digest).slice(0, 16)];
  return `"${bytes.map((byte) => byte.toString(16).padStart(2, "0")).join("")}"`;
}

async function cached(request: Request, body: string, type: string): Promise<Response> {
  const etag = await etagOf(body);
  const headers = { ...CORS, etag, "cache-control": CACHED };
  const known = (request.headers.get("if-none-match") ?? "").split(",").map((tag) => tag.trim().replace(/^W\//, ""));
  if (known.includes(etag) || known.includes("*")) return new Response(null, { status: 304, headers });
  return new Response(body, {
    status: 200,
    headers: { ...headers, ...INERT, "content-type": type },
  });
}

function refused(status: number, error: string, more: Record<string, string> = {}): Response {
  return Response.json({ error }, { status, headers: { ...CORS, ...more } });
}

const unknownExperiment = (): Response => refused(400, `experiment must be one of default, ${EXPERIMENTS.join(", ")}`);

const leaderboardJson = httpAction(async (ctx, request) => {
  const url = new URL(request.url);
  const experiment = experimentOf(url);
  if (experiment === null) return unknownExperiment();
  const version = url.searchParams.get("version");
  const models = await ctx.runQuery(api.runs.leaderboardScores, {
    ...(experiment === undefined ? {} : { experiment }),
    ...(version === null ? {} : { benchmarkVersion: version }),
  });
  const body = {
    experiment: experiment ?? "default",
    benchmarkVersion: models[0]?.benchmarkVersion ?? version,
    models,
  };
  return await cached(request, `${JSON.stringify(body)}\n`, "application/json; charset=utf-8");
});

const badgeSvg = httpAction(async (ctx, request) => {
  const url = new URL(request.url);
  const experiment = experimentOf(url);
  if (experiment === null) return unknownExperiment();
  const [, slug] = /^(.+)\.svg$/.exec(decoded(url.pathname.slice(BADGES.length)) ?? "") ?? [];
  if (slug === undefined) return refused(404, "badges are at /api/badge/MODEL.svg");
  const models = await ctx.runQuery(api.runs.leaderboardScores, experiment === undefined ? {} : { experiment });
  const found = models.find(({ model }) => model === slug);
  const picture = found
    ? badge(found.formattedName, `${(100 * found.totalScore).toFixed(1)} %`, colourOf(found.totalScore))
    : badge(slug, "no score", "#666");
  return await cached(request, picture, "image/svg+xml; charset=utf-8");
});

const exportRun = httpAction(async (ctx, request) => {
  const token = (request.headers.get("authorization") ?? "").replace(/^Bearer /, "");
  const answer = await ctx.runMutation(internal.auth.check, { token, scope: "export" });
  if (answer === "too many") return refused(429, "too many refused tokens; try again later", { "retry-after": "60" });
  if (answer === "refused") return refused(401, "Invalid authentication token", { "www-authenticate": "Bearer" });
  const runId = new URL(request.url).searchParams.get("run");
  if (runId === null) return refused(400, "name a run: /api/export?run=DATE/RUN/TRIAL");
  const run = await ctx.runQuery(internal.runs.exportRun, { runId });
  if (run === null) return refused(404, `no run ${runId}`);
  return Response.json(run, { headers: { "cache-control": "no-store" } });
});

const preflight = httpAction(async () => new Response(null, { status: 204, headers: CORS }));

/** Null for what is no text in UTF-8. */
function decoded(path: string): string | null {
  try {
    return decodeURIComponent(path);
  } catch {
    return null;
  }
}

const http = httpRouter();
http.route({ path: "/api/leaderboard.json", method: "GET", handler: leaderboardJson });
http.route({ path: "/api/leaderboard.json", method: "OPTIONS", handler: preflight });
http.route({ pathPrefix: BADGES, method: "GET", handler: badgeSvg });
http.route({ pathPrefix: BADGES, method: "OPTIONS", handler: preflight });
http.route({ path: "/api/export", method: "GET", handler: exportRun });
export default http;
