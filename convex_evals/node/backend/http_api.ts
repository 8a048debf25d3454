/** The deployment's HTTP API: https://docs.convex.dev/http-api/ and what the CLI uses beyond it. */

import type { IncomingMessage, ServerResponse } from "node:http";
import type { App } from "./app/app.ts";
import { checkAdminKey, requireAdmin } from "./auth.ts";
import type { Door } from "./doors.ts";
import { changeEnvironment } from "./environment_variables.ts";
import { HttpError, internalError } from "./errors.ts";
import { downloadFile, uploadFile } from "./file_api.ts";
import { callAnyFunction, callBatch, callByPath, callByUrl, callFunction } from "./function_api.ts";
import { readJson, sendError, sendJson, type Exchange } from "./http_body.ts";
import { isReading, requireWriting } from "./pages.ts";
import type { PushApi } from "./push_api.ts";
import { encodeTimestamp } from "./sync/protocol.ts";
import { BACKEND_VERSION, INSTANCE_NAME } from "./versions.ts";

export interface ApiParts {
  readonly app: App;
  readonly door: Door;
  readonly push: PushApi;
  cloudUrl(): string;
  siteUrl(): string;
}

type Handler = (exchange: Exchange, parts: ApiParts) => Promise<void> | void;

const ROUTES: Readonly<Record<string, Handler>> = {
  "GET /version": ({ response }) => void response.end(BACKEND_VERSION),
  "GET /instance_name": ({ response }) => void response.end(INSTANCE_NAME),
  "GET /instance_version": ({ response }) => void response.end(BACKEND_VERSION),
  "GET /api/check_admin_key": checkKey,
  "GET /api/v1/get_canonical_urls": ({ response }, parts) =>
    sendJson(response, { convexCloudUrl: parts.cloudUrl(), convexSiteUrl: parts.siteUrl() }),
  "POST /api/query": (exchange, parts) => callFunction(exchange, parts, "query"),
  "GET /api/query": callByUrl,
  "POST /api/query_batch": callBatch,
  "POST /api/query_at_ts": (exchange, parts) => callFunction(exchange, parts, "query"),
  "POST /api/mutation": (exchange, parts) => callFunction(exchange, parts, "mutation"),
  "POST /api/action": (exchange, parts) => callFunction(exchange, parts, "action"),
  "POST /api/function": callAnyFunction,
  "POST /api/query_ts": ({ response }, parts) =>
    sendJson(response, { ts: encodeTimestamp(parts.app.store.lastCommitTs) }),
  "POST /api/get_config_hashes": configHashes,
  "POST /api/update_environment_variables": updateEnvironment,
  "GET /api/list_environment_variables": listEnvironment,
  "GET /api/stream_function_logs": streamLogs,
  "POST /api/storage/upload": (exchange, { app }) => uploadFile(exchange, app),
};

/** What reads although it is sent by POST. */
const QUERIES: ReadonlySet<string> = new Set(["/api/query", "/api/query_batch", "/api/query_at_ts", "/api/query_ts"]);

/** Answers one request; every failure becomes a JSON error. */
export async function handleApi(request: IncomingMessage, response: ServerResponse, parts: ApiParts): Promise<void> {
  try {
    allowCrossOrigin(request, response);
    const url = requestUrl(request);
    if (request.method === "OPTIONS") return void response.writeHead(204).end();
    await route({ request, response, url }, parts);
  } catch (error) {
    sendError(response, error instanceof HttpError ? error : internalError(error, parts.app.told));
  }
}

async function route(exchange: Exchange, parts: ApiParts): Promise<void> {
  const { request, response, url } = exchange;
  const method = request.method === "HEAD" ? "GET" : request.method;
  if (!isReading(method) && !QUERIES.has(url.pathname)) requireWriting(parts.door);
  const key = `${method} ${url.pathname}`;
  const handler = Object.hasOwn(ROUTES, key) ? ROUTES[key] : undefined;
  if (handler) return await handler(exchange, parts);
  const run = /^\/api\/run\/(.+)$/.exec(url.pathname)?.[1];
  if (run !== undefined && method === "POST") return await callByPath(exchange, parts, run);
  const pushStep = /^\/api\/deploy2\/(\w+)$/.exec(url.pathname)?.[1];
  if (pushStep !== undefined && method === "POST") {
    if (!parts.door.push) throw new HttpError(403, "PushesAreElsewhere", "This deployment is pushed to by another way");
    const answer = await parts.push.handle(pushStep, await readJson(request), parts.door);
    if (answer) return sendJson(response, answer);
  }
  const file = /^\/api\/storage\/([^/]+)$/.exec(url.pathname)?.[1];
  if (file !== undefined && method === "GET") return await downloadFile(exchange, parts.app, file);
  throw new HttpError(404, "NotFound", `No route for ${method} ${url.pathname}`);
}

function requestUrl(request: IncomingMessage): URL {
  const url = URL.parse(request.url ?? "/", "http://localhost");
  if (!url) throw new HttpError(400, "BadUrl", "The request's URL is malformed");
  return url;
}

function allowCrossOrigin(request: IncomingMessage, response: ServerResponse): void {
  response.setHeader("access-control-allow-origin", request.headers.origin ?? "*");
  response.setHeader("access-control-allow-credentials", "true");
  response.setHeader("access-control-allow-methods", "GET, POST, PUT, PATCH, DELETE, OPTIONS, HEAD");
  response.setHeader("access-control-allow-headers", request.headers["access-control-request-headers"] ?? "*");
  response.setHeader("access-control-max-age", "86400");
  response.setHeader("vary", "origin");
}

function checkKey({ request, response }: Exchange, { door }: ApiParts): void {
  requireAdmin(request.headers.authorization, door);
  sendJson(response, { success: true });
}

async function configHashes({ request, response }: Exchange, { door }: ApiParts): Promise<void> {
  const { adminKey } = (await readJson(request)) as { adminKey?: unknown };
  checkAdminKey(adminKey, door);
  // No hash is ever known, so the CLI always sends every module.
  sendJson(response, {
    config: { functions: "convex/", authInfo: [] },
    moduleHashes: [],
    nodeDependencies: [],
    nodeVersion: null,
    udfServerVersion: null,
  });
}

async function updateEnvironment({ request, response }: Exchange, { app, door }: ApiParts): Promise<void> {
  requireAdmin(request.headers.authorization, door);
  const { changes } = (await readJson(request)) as { changes?: unknown };
  await changeEnvironment(app, changes);
  response.writeHead(200).end();
}

async function listEnvironment({ request, response }: Exchange, { app, door }: ApiParts): Promise<void> {
  requireAdmin(request.headers.authorization, door);
  sendJson(response, { environmentVariables: Object.fromEntries([...app.environment.user].sort()) });
}

async function streamLogs({ request, response, url }: Exchange, { app, door }: ApiParts): Promise<void> {
  requireAdmin(request.headers.authorization, door);
  const cursor = Number(url.searchParams.get("cursor") ?? 0);
  const closed = new AbortController();
  request.on("close", () => closed.abort());
  sendJson(response, await app.log.after(Number.isFinite(cursor) ? cursor : 0, closed.signal));
}
