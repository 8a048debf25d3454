/**
 * The call of an HTTP action: a request made of what the host has, and its response taken apart for the host.
 *
 * get-convex/convex-backend npm-packages/udf-runtime/src/23_request.ts, 23_response.ts
 */

import type { HostBody, RequestHead, SentBody } from "./types.ts";
import { receiveBody } from "./web/body.ts";
import { PulledBody } from "./web/pulled_body.ts";
import { Request } from "./web/request.ts";
import { partsOfResponse } from "./web/response.ts";
import { sentBody } from "./web/sent_body.ts";

const { parse, stringify } = JSON;

export function requestOf(head: string, body: HostBody | null): Request {
  const { url, method, headers } = parse(head) as RequestHead;
  const request = new Request(url, { method, headers });
  if (body) receiveBody(request, new PulledBody(body));
  return request;
}

/** The response's head, as JSON text, and its body. Throws `TypeError` for what is no response. */
export function sentResponse(response: unknown): { readonly head: string; readonly body: SentBody } {
  const { status, statusText, headers, body } = partsOfResponse(response);
  return { head: stringify({ status, statusText, headers }), body: sentBody(body) };
}
