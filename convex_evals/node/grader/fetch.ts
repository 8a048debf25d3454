/**
 * What the official HTTP client needs of `fetch`, on `node:http`: graders make a hundred calls, and Node's own `fetch` costs
 * several times the processor time (bench/fetch.ts prints the ratio).
 */
import { Agent, request, type IncomingMessage } from "node:http";

const agent = new Agent({ keepAlive: true });

interface Sent {
  method: string;
  headers: Record<string, string>;
  body?: string;
}

/** Sends a request with a text for a body, and reads the whole answer as text. */
export async function leanFetch(
  url: string,
  { method, headers, body = "" }: Sent,
): Promise<Pick<Response, "ok" | "status" | "text" | "json">> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const sent = request(
      url,
      { method, headers: { ...headers, "content-length": Buffer.byteLength(body) }, agent },
      resolve,
    );
    // As `fetch` words it: what went wrong is the cause.
    sent.on("error", (cause) => reject(new TypeError("fetch failed", { cause })));
    sent.end(body);
  });
  const text = await textOf(response);
  const status = response.statusCode ?? 0;
  return {
    ok: status >= 200 && status < 300,
    status,
    text: async () => text,
    json: async () => JSON.parse(text) as unknown,
  };
}

async function textOf(response: IncomingMessage): Promise<string> {
  response.setEncoding("utf8");
  let text = "";
  try {
    for await (const chunk of response) text += String(chunk);
  } catch (cause) {
    throw new TypeError("terminated", { cause });
  }
  return text;
}
