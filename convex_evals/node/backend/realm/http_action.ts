/** The request and the response of an HTTP action, on their way into a context and out of it. */

import type { HostBody, RequestHead, ResponseHead, SentBody } from "../isolate/types.ts";
import { contextBody, hostBody, parsedHead } from "./web/bodies.ts";

// https://fetch.spec.whatwg.org/#null-body-status
const WITHOUT_BODY: ReadonlySet<number> = new Set([101, 103, 204, 205, 304]);

/** A request as a context takes it. */
export function sentRequest(request: Request): { readonly head: string; readonly body: HostBody | null } {
  const { url, method, headers, body } = request;
  const head: RequestHead = { url, method, headers: [...headers] };
  return {
    head: JSON.stringify(head),
    body: body && hostBody(body),
  };
}

/** The response that a context gave; `ended` is called when all of a streamed body was taken. Throws `TypeError` or `RangeError` where it cannot be sent. */
export function receivedResponse(text: unknown, sent: SentBody, ended: () => void): Response {
  const { status, statusText, headers } = parsedHead<ResponseHead>(text);
  const body = contextBody(sent, ended);
  if (!WITHOUT_BODY.has(status)) return new Response(body, { status, statusText, headers: pairs(headers) });
  if (body instanceof ReadableStream) void body.cancel().catch(() => {});
  return new Response(null, { status, statusText, headers: pairs(headers) });
}

function pairs(headers: ResponseHead["headers"]): [string, string][] {
  return headers.map(([name, value]) => [name, value]);
}
