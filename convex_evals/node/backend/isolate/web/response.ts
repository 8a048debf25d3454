/**
 * `Response`.
 *
 * get-convex/convex-backend npm-packages/udf-runtime/src/23_response.ts
 */

import { Body, copyBody, extractBody, headersOf, receiveBody, takeBody, type BodyInit, type Source } from "./body.ts";
import { Headers, pairsOfHeaders, type HeadersInit } from "./headers.ts";
import type { PulledBody } from "./pulled_body.ts";
import type { Pair } from "./url_search_params.ts";

export interface ResponseInit {
  readonly status?: number;
  readonly statusText?: string;
  readonly headers?: HeadersInit;
}

/** What is known of a response besides what the app may say of one. */
interface Received {
  readonly url: string;
  readonly redirected: boolean;
}

interface ResponseParts {
  readonly status: number;
  readonly statusText: string;
  readonly headers: readonly Pair[];
  readonly body: Source | null;
}

const NOT_SERIALIZABLE = "Failed to execute 'json' on 'Response': The data is not JSON serializable";

/** The response to a request that was sent. */
export let receivedResponse: (body: PulledBody | null, init: ResponseInit, received: Received) => Response;

/** Takes a response apart, to send it. Throws `TypeError` for what is none, and where its body was read. */
export let partsOfResponse: (response: unknown) => ResponseParts;

export class Response extends Body {
  readonly #status: number;
  readonly #statusText: string;
  #received: Received | null = null;

  static {
    receivedResponse = (body, init, received) => {
      const response = new Response(null, init);
      receiveBody(response, body);
      response.#received = received;
      return response;
    };
    partsOfResponse = (response) => {
      if (typeof response !== "object" || response === null || !(#status in response)) {
        throw new TypeError("An HTTP action has to return a Response");
      }
      return {
        status: response.#status,
        statusText: response.#statusText,
        headers: pairsOfHeaders(headersOf(response)),
        body: takeBody(response, "body"),
      };
    };
  }

  constructor(body?: BodyInit | null, init?: ResponseInit | null) {
    const status = Number(init?.status ?? 200);
    if (!Number.isInteger(status) || status < 200 || status > 599) {
      throw new RangeError("Failed to construct 'Response': The status provided is outside the range [200, 599].");
    }
    const headers = new Headers(init?.headers);
    const extracted = body === null || body === undefined ? null : extractBody(body);
    if (extracted?.contentType && !headers.has("content-type")) headers.set("content-type", extracted.contentType);
    super("Response", headers, extracted?.source ?? null);
    this.#status = status;
    this.#statusText = `${init?.statusText ?? ""}`;
  }

  static error(): Response {
    return new Response(null, { status: 500 });
  }

  static json(data: unknown, init?: ResponseInit | null): Response {
    const response = new Response(serialized(data), init);
    headersOf(response).set("content-type", "application/json");
    return response;
  }

  /** The location may be relative: it is not resolved. */
  static redirect(url: unknown, status = 302): Response {
    return new Response(null, { status, headers: { location: `${url as string}` } });
  }

  get ok(): boolean {
    return this.#status >= 200 && this.#status <= 299;
  }

  get redirected(): boolean {
    return this.#received?.redirected ?? false;
  }

  get status(): number {
    return this.#status;
  }

  get statusText(): string {
    return this.#statusText;
  }

  get type(): string {
    return this.#received ? "basic" : "default";
  }

  get url(): string {
    return this.#received?.url ?? "";
  }

  clone(): Response {
    const init = { status: this.#status, statusText: this.#statusText, headers: headersOf(this) };
    const copy = new Response(null, init);
    copyBody(this, copy);
    copy.#received = this.#received;
    return copy;
  }

  get [Symbol.toStringTag](): string {
    return "Response";
  }
}

function serialized(data: unknown): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(data);
  } catch {
    throw new TypeError(NOT_SERIALIZABLE);
  }
  if (text === undefined) throw new TypeError(NOT_SERIALIZABLE);
  return text;
}
