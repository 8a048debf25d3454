/** Reading requests and writing answers. */

import type { IncomingMessage, ServerResponse } from "node:http";
import { promisify } from "node:util";
import { HttpError } from "./errors.ts";
import { parseJson } from "./json_text.ts";
import { MAX_BODY_BYTES } from "./request_limits.ts";

/** What a handler of the HTTP API gets. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly url: URL;
}

/** The whole body, decompressed; throws `HttpError` 413 or 400. */
export async function readBody(request: IncomingMessage, maxBytes = MAX_BODY_BYTES): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of bodyOf(request, maxBytes)) chunks.push(chunk);
  return await decompress(Buffer.concat(chunks), request.headers["content-encoding"], maxBytes);
}

/** The body as it comes; throws `HttpError` 413. */
export async function* bodyOf(request: IncomingMessage, maxBytes: number): AsyncGenerator<Buffer> {
  checkAnnounced(request, maxBytes);
  let size = 0;
  // The request stays open where its body is given up: there is an answer to it.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) throw tooLarge(maxBytes);
    yield chunk;
  }
}

/** Refuses a body that says itself that it is too large; throws `HttpError` 413. */
export function checkAnnounced(request: IncomingMessage, maxBytes: number): void {
  if (Number(request.headers["content-length"] ?? 0) > maxBytes) throw tooLarge(maxBytes);
}

function tooLarge(maxBytes: number): HttpError {
  return new HttpError(413, "BodyTooLarge", `The request body is too large (limit: ${maxBytes >> 20} MiB)`);
}

export async function readJson(request: IncomingMessage, maxBytes = MAX_BODY_BYTES): Promise<unknown> {
  const body = await readBody(request, maxBytes);
  try {
    return parseJson(body.toString("utf8"));
  } catch (error) {
    throw new HttpError(400, "BadJsonBody", `Failed to parse the request body as JSON: ${(error as Error).message}`);
  }
}

async function decompress(body: Buffer, encoding: string | undefined, maxBytes: number): Promise<Buffer> {
  if (encoding === undefined || encoding === "identity") return body;
  const zlib = await import("node:zlib");
  const decoders: Readonly<Record<string, (body: Buffer, options: object) => Promise<Buffer>>> = {
    br: promisify(zlib.brotliDecompress),
    gzip: promisify(zlib.gunzip),
    deflate: promisify(zlib.inflate),
  };
  const decode = decoders[encoding];
  if (!decode) throw new HttpError(415, "UnsupportedEncoding", `Unsupported content encoding: ${encoding}`);
  try {
    return await decode(body, { maxOutputLength: maxBytes });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") throw tooLarge(maxBytes);
    throw new HttpError(400, "BadEncoding", `The request body is not valid ${encoding}`);
  }
}

export function sendJson(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(value));
}

export function sendError(response: ServerResponse, error: HttpError): void {
  if (response.headersSent) response.destroy();
  else sendJson(response, { code: error.code, message: error.message }, error.status);
}
