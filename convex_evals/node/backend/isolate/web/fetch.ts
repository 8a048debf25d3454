/**
 * `fetch`, which follows redirects here: the host sends single requests.
 *
 * get-convex/convex-backend npm-packages/udf-runtime/src/26_fetch.ts
 */

import type { HostBody, ResponseHead, Surroundings } from "../types.ts";
import { onAbort } from "./abort.ts";
import { isBytes, takeBody, type Source } from "./body.ts";
import { Headers, pairsOfHeaders } from "./headers.ts";
import { PulledBody } from "./pulled_body.ts";
import { Request, type RequestInit } from "./request.ts";
import { receivedResponse, type Response } from "./response.ts";
import { sentBody } from "./sent_body.ts";
import { partsOfUrl, type URL } from "./url.ts";

const MAX_REDIRECTS = 20;
const REDIRECTS = [301, 302, 303, 307, 308];
const HEADERS_OF_BODIES = [
  "content-encoding",
  "content-language",
  "content-length",
  "content-location",
  "content-type",
];

interface Sent {
  readonly url: string;
  readonly method: string;
  readonly headers: Headers;
  readonly body: Source | null;
  readonly isRedirected: boolean;
}

type Signal = Request["signal"];

/** Sends a request by means of the host. */
export async function fetchWith(
  send: Surroundings["fetch"],
  input: string | URL | Request,
  init?: RequestInit,
): Promise<Response> {
  const request = new Request(input, init);
  const { url, method, headers, signal } = request;
  let sent: Sent = { url, method, headers, body: takeBody(request, "fetch"), isRedirected: false };
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    const response = await answered(send, sent, signal);
    const location = REDIRECTS.includes(response.status) ? response.headers.get("location") : null;
    if (location === null || init?.redirect === "manual") return response;
    if (init?.redirect === "error") throw new TypeError("fetch attempted redirect");
    sent = redirected(sent, response, location);
  }
  throw new TypeError("fetch too many redirects");
}

function redirected(from: Sent, { status, headers: answer }: Response, location: string): Sent {
  const { href: url, origin } = partsOfUrl(location, from.url);
  const headers = new Headers(from.headers);
  if (origin !== partsOfUrl(from.url, null).origin) headers.delete("authorization");
  const policy = answer.get("referrer-policy");
  if (policy) headers.set("referrer-policy", policy);
  const isPost = from.method === "POST";
  const isRead = from.method === "GET" || from.method === "HEAD";
  if (status === 303 ? !isRead : isPost && status <= 302) {
    for (const name of HEADERS_OF_BODIES) headers.delete(name);
    return { url, method: "GET", headers, body: null, isRedirected: true };
  }
  if (from.body !== null && !isBytes(from.body)) throw new TypeError("fetch cannot redirect with streamed body");
  return { ...from, url, headers, isRedirected: true };
}

function answered(send: Surroundings["fetch"], sent: Sent, signal: Signal): Promise<Response> {
  const { url, method, headers, body, isRedirected } = sent;
  // The app may have given anything as the reason.
  const failure = (message: string): Error => (signal.aborted ? (signal.reason as Error) : new TypeError(message));
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(failure(""));
    const respond = (text: string, hostBody: HostBody): void => {
      try {
        const head = JSON.parse(text) as ResponseHead;
        resolve(receivedResponse(new PulledBody(hostBody, failure), head, { url, redirected: isRedirected }));
      } catch (error) {
        reject(error instanceof Error ? error : new TypeError("Failed to fetch"));
      }
    };
    try {
      const head = JSON.stringify({ url, method, headers: pairsOfHeaders(headers) });
      const end = send(head, sentBody(body), respond, (message) => reject(failure(message)));
      onAbort(signal, () => {
        end();
        reject(failure(""));
      });
    } catch {
      reject(new RangeError("Maximum call stack size exceeded"));
    }
  });
}
