/** What is served to anyone: the leaderboard as JSON, badges; and, with a key or a token, exports. */
import { httpRouter } from "convex/server";
import { api, internal } from "./_generated/api";
import { httpAction } from "./_generated/server";
import { refusal } from "./answers";
import { badge, colourOf } from "./badge";
import type { Interval } from "./arithmetic";
import { answerExport } from "./exports";
import { hashOf } from "./hashes";
import { ALL_VERSIONS } from "./scores";

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

async function cached(request: Request, body: string, type: string): Promise<Response> {
  const etag = `"${(await hashOf(body)).slice(0, 32)}"`;
  const headers = { ...CORS, etag, "cache-control": CACHED };
  const known = (request.headers.get("if-none-match") ?? "").split(",").map((tag) => tag.trim().replace(/^W\//, ""));
  if (known.includes(etag) || known.includes("*")) return new Response(null, { status: 304, headers });
  return new Response(body, {
    status: 200,
    headers: { ...headers, ...INERT, "content-type": type },
  });
}

const unknownExperiment = (): Response =>
  refusal(400, "bad_request", `experiment must be one of default, ${EXPERIMENTS.join(", ")}`, CORS);

const leaderboardJson = httpAction(async (ctx, request) => {
  const url = new URL(request.url);
  const experiment = experimentOf(url);
  if (experiment === null) return unknownExperiment();
  const version = url.searchParams.get("version");
  if (version !== null && version !== ALL_VERSIONS) {
    const isMinted = await ctx.runQuery(internal.runs.isMinted, { called: version });
    if (!isMinted) return refusal(404, "not_found", "version: no benchmark of this version or name was minted", CORS);
  }
  const models = await ctx.runQuery(api.runs.leaderboardScores, {
    ...(experiment === undefined ? {} : { experiment }),
    ...(version === null ? {} : { benchmarkVersion: version }),
  });
  const body = {
    experiment: experiment ?? "default",
    benchmarkVersion: models[0]?.benchmarkVersion ?? version,
    models,
    ...(models.length === 0 ? { note: await ctx.runQuery(internal.runs.whyEmpty, {}) } : {}),
  };
  return await cached(request, `${JSON.stringify(body)}\n`, "application/json; charset=utf-8");
});

const badgeSvg = httpAction(async (ctx, request) => {
  const url = new URL(request.url);
  const experiment = experimentOf(url);
  if (experiment === null) return unknownExperiment();
  const [, slug] = /^(.+)\.svg$/.exec(decoded(url.pathname.slice(BADGES.length)) ?? "") ?? [];
  if (slug === undefined) return refusal(404, "not_found", "badges are at /api/badge/MODEL.svg", CORS);
  const models = await ctx.runQuery(api.runs.leaderboardScores, experiment === undefined ? {} : { experiment });
  const found = models.find(({ model }) => model === slug);
  const picture = found
    ? badge(found.formattedName, badgeText(found), colourOf(found.totalScore))
    : badge(slug, "no score", "#666");
  return await cached(request, picture, "image/svg+xml; charset=utf-8");
});

/** The score with its interval over evals of this kind, rounded outwards. */
function badgeText(score: { totalScore: number; interval: Interval; isProvisional: boolean }): string {
  const [low, high] = [Math.floor(100 * score.interval.low), Math.ceil(100 * score.interval.high)];
  return `${(100 * score.totalScore).toFixed(1)} % (${low}-${high} %${score.isProvisional ? ", provisional" : ""})`;
}

const exported = httpAction(answerExport);

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
http.route({ path: "/api/export", method: "GET", handler: exported });
export default http;
