/** The host's side of `isolate/web/fetch.ts`. */

import type { RequestHead, ResponseHead, SentBody, Surroundings } from "../../isolate/types.ts";
import { contextBody, hostBody, parsedHead } from "./bodies.ts";

const SCHEMES: ReadonlySet<string> = new Set(["http:", "https:"]);

type Send = Surroundings["fetch"];

/** Sends one request of a context. */
export const sendRequest: Send = (head, body, respond, failed) => {
  const controller = new AbortController();
  // What the context's functions throw is nothing to us.
  answer(head, body, controller.signal, respond, failed).catch(() => {});
  return () => controller.abort();
};

async function answer(
  text: unknown,
  body: SentBody,
  signal: AbortSignal,
  ...[respond, failed]: [Parameters<Send>[2], Parameters<Send>[3]]
): Promise<void> {
  let response: Response;
  try {
    response = await sent(parsedHead<RequestHead>(text), body, signal);
  } catch (error) {
    return failed(String((error as Error).message));
  }
  const { status, statusText, headers } = response;
  const head: ResponseHead = { status, statusText, headers: [...headers] };
  respond(JSON.stringify(head), hostBody(response.body));
}

async function sent({ url, method, headers }: RequestHead, body: SentBody, signal: AbortSignal): Promise<Response> {
  // The context refuses others, too, but in its own code.
  if (!SCHEMES.has(new URL(url).protocol)) throw new TypeError(`Unsupported URL scheme of ${url}`);
  const init = {
    method,
    headers: headers.map(([name, value]): [string, string] => [name, value]),
    body: contextBody(body),
    redirect: "manual",
    duplex: "half",
    signal,
  } as const;
  try {
    return await fetch(url, init);
  } catch (error) {
    const { message, cause } = error as Error;
    const reason = cause instanceof Error && cause.message !== "" ? cause.message : message;
    throw new TypeError(`error sending request for url (${url}): ${reason}`, { cause: error });
  }
}
