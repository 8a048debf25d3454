/**
 * `Request`.
 *
 * get-convex/convex-backend npm-packages/udf-runtime/src/23_request.ts
 */

import { AbortController, isSignal, type AbortSignal } from "./abort.ts";
import { Body, copyBody, extractBody, headersOf, takeBody, type BodyInit, type Source } from "./body.ts";
import { Headers, type HeadersInit } from "./headers.ts";
import { notImplemented } from "./not_implemented.ts";
import { usvString } from "./texts.ts";
import { partsOfUrl, type URL } from "./url.ts";

export interface RequestInit {
  readonly method?: string;
  readonly headers?: HeadersInit;
  readonly body?: BodyInit | null;
  readonly signal?: AbortSignal | null;
  /** Of `fetch` alone. */
  readonly redirect?: string;
}

// Others are taken as they are written.
const METHODS = ["DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"];

const MISSING = [
  "cache",
  "credentials",
  "destination",
  "duplex",
  "integrity",
  "isHistoryNavigation",
  "isReloadNavigation",
  "keepalive",
  "mode",
  "redirect",
  "referrer",
  "referrerPolicy",
];

let asRequest: (value: unknown) => Request | null;

export class Request extends Body {
  readonly #url: string;
  readonly #method: string;
  readonly #signal: AbortSignal;

  static {
    asRequest = (value) => (typeof value === "object" && value !== null && #method in value ? value : null);
  }

  constructor(input: string | URL | Request, init?: RequestInit | null) {
    if (input === undefined) throw new TypeError("Request URL is undefined");
    const original = asRequest(input);
    const url = checkedUrl(original ? original.#url : input);
    const method =
      init?.method === undefined ? (original ? original.#method : "GET") : normalizedMethod(`${init.method}`);
    const headers = new Headers(init?.headers ?? (original && headersOf(original)));
    const body = sourceOf(init?.body ?? null, method, headers);
    super("Request", headers, body ?? (original && takeBody(original, "new Request()")));
    this.#url = url;
    this.#method = method;
    this.#signal = signalOf(init?.signal ?? (original && original.#signal));
  }

  get method(): string {
    return this.#method;
  }

  get signal(): AbortSignal {
    return this.#signal;
  }

  get url(): string {
    return this.#url;
  }

  clone(): Request {
    const init = { method: this.#method, headers: headersOf(this), signal: this.#signal };
    const copy = new Request(this.#url, init);
    copyBody(this, copy);
    return copy;
  }

  toJSON(): object {
    return {};
  }

  get [Symbol.toStringTag](): string {
    return "Request";
  }
}

for (const name of MISSING) {
  Object.defineProperty(Request.prototype, name, {
    get: () => notImplemented(`get ${name}`, "Request"),
    configurable: true,
  });
}

function checkedUrl(input: unknown): string {
  const { href, protocol } = partsOfUrl(usvString(input), null);
  if (protocol === "http:" || protocol === "https:") return href;
  throw new TypeError(
    `Unsupported URL scheme -- http and https are supported (scheme was ${protocol.slice(0, protocol.length - 1)})`,
  );
}

function normalizedMethod(method: string): string {
  const upper = method.toUpperCase();
  return METHODS.includes(upper) ? upper : method;
}

function sourceOf(body: BodyInit | null, method: string, headers: Headers): Source | null {
  if (body === null) return null;
  if (method === "GET" || method === "HEAD") {
    throw new TypeError("Failed to construct 'Request': Request with GET/HEAD method cannot have body.");
  }
  const { source, contentType } = extractBody(body);
  if (contentType !== null && !headers.has("content-type")) headers.set("content-type", contentType);
  return source;
}

function signalOf(signal: unknown): AbortSignal {
  // By default it never aborts.
  if (signal === undefined || signal === null) return new AbortController().signal;
  if (isSignal(signal)) return signal;
  throw new TypeError("Failed to construct 'Request': member signal is not of type AbortSignal.");
}
