/** HTTP actions, on their own port. */

import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { App } from "./app/app.ts";
import { ANONYMOUS, type Caller } from "./auth.ts";
import type { Door } from "./doors.ts";
import { HttpError, internalError, newRequestId } from "./errors.ts";
import { bodyOf, checkAnnounced, sendError, sendJson } from "./http_body.ts";
import { isReading, requireWriting } from "./pages.ts";
import { MAX_HTTP_ACTION_BYTES } from "./request_limits.ts";
import type { FailedHttpAction } from "./runtime_types.ts";

/** Runs the HTTP action that the request is routed to. */
export async function handleSite(
  request: IncomingMessage,
  response: ServerResponse,
  app: App,
  door: Door,
): Promise<void> {
  let answer: Response | FailedHttpAction;
  // A client that goes away in the middle is not an error of ours.
  request.on("error", () => {});
  response.on("error", () => {});
  try {
    if (!isReading(request.method)) requireWriting(door);
    checkAnnounced(request, MAX_HTTP_ACTION_BYTES);
    answer = await app.fetch(request.url ?? "/", requestInit(request), await callerOf(app, request, door));
  } catch (error) {
    return sendError(response, error instanceof HttpError ? error : internalError(error, app.told));
  }
  if ("title" in answer) return sendJson(response, failureOf(answer), 500);
  await sendResponse(response, answer, () => {
    app.report(`HttpResponseTooLarge: HTTP actions support responses up to ${MAX_HTTP_ACTION_BYTES >> 20} MiB`);
  });
}

// get-convex/convex-backend crates/application/src/redaction.rs (to_http_response_parts)
function failureOf({ title, errorMessage, errorData }: FailedHttpAction): object {
  const code = `[Request ID: ${newRequestId()}] Server Error: ${title}`;
  return { code, ...(errorData === undefined ? {} : { data: errorData }), trace: `${errorMessage}\n` };
}

// Apps use the Authorization header for schemes of their own: one that Convex
// does not understand means nobody in particular.
async function callerOf(app: App, request: IncomingMessage, door: Door): Promise<Caller> {
  try {
    return await app.auth.callerOfHeader(request.headers.authorization, door);
  } catch {
    return ANONYMOUS;
  }
}

function requestInit(request: IncomingMessage): RequestInit {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    if (value === undefined) continue;
    for (const item of Array.isArray(value) ? value : [value]) headers.append(name, item);
  }
  const method = request.method ?? "GET";
  if (method === "GET" || method === "HEAD") return { method, headers };
  const hasBody =
    request.headers["transfer-encoding"] !== undefined || Number(request.headers["content-length"] ?? 0) > 0;
  if (!hasBody) return { method, headers };
  const bytes = Readable.from(bodyOf(request, MAX_HTTP_ACTION_BYTES), { objectMode: false });
  const body = Readable.toWeb(bytes) as ReadableStream<Uint8Array>;
  return { method, headers, body, duplex: "half" } as RequestInit;
}

async function sendResponse(response: ServerResponse, answer: Response, tooLarge: () => void): Promise<void> {
  response.statusCode = answer.status;
  if (answer.statusText) response.statusMessage = answer.statusText;
  for (const [name, value] of answer.headers) {
    if (name !== "set-cookie") response.setHeader(name, value);
  }
  const cookies = answer.headers.getSetCookie();
  if (cookies.length > 0) response.setHeader("set-cookie", cookies);
  if (!answer.body) return void response.end();
  response.flushHeaders();
  try {
    const body = Readable.fromWeb(answer.body as import("node:stream/web").ReadableStream<Uint8Array>);
    await pipeline(body, (chunks: AsyncIterable<Uint8Array>) => limited(chunks, tooLarge), response);
  } catch {
    // The app's stream failed after the status was sent: cutting the connection
    // is the only way left to say so.
    response.destroy();
  }
}

/** Leaves out chunks that do not fit. get-convex/convex-backend crates/isolate/src/environment/action/mod.rs */
async function* limited(chunks: AsyncIterable<Uint8Array>, tooLarge: () => void): AsyncGenerator<Uint8Array> {
  let sent = 0;
  for await (const chunk of chunks) {
    if (sent + chunk.length > MAX_HTTP_ACTION_BYTES) {
      tooLarge();
      continue;
    }
    sent += chunk.length;
    yield chunk;
  }
}
