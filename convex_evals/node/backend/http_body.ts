/** Reading requests and writing answers. */

import type { IncomingMessage, ServerResponse } from "node:http";
import { promisify } from "node:util";
import { HttpError } from "./errors.ts";

/** What a handler of the HTTP API gets. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly url: URL;
}

// Real deployments refuse bodies above this size.
const MAX_BODY_BYTES = 128 << 20;

/** The whole body, decompressed; throws `HttpError` 413 or 400. */
export async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) throw new HttpError(413, "BodyTooLarge", "The request body is too large");
    chunks.push(chunk);
  }
  return await decompress(Buffer.concat(chunks), request.headers["content-encoding"]);
}

export async function readJson(request: IncomingMessage): Promise<unknown> {
  const body = await readBody(request);
  try {
    return JSON.parse(body.toString("utf8"));
  } catch (error) {
    throw new HttpError(400, "BadJsonBody", `Failed to parse the request body as JSON: ${(error as Error).message}`);
  }
}

async function decompress(body: Buffer, encoding: string | undefined): Promise<Buffer> {
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
    return await decode(body, { maxOutputLength: MAX_BODY_BYTES });
  } catch {
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
