/** `fetch`, which actions have. They fetch from the app's own site. */

import { moduleFile, type Expected, type Files, type Row } from "../harness.ts";

const FETCH = "get-convex/convex-backend npm-packages/udf-runtime/src/26_fetch.ts";
const REQUESTS = "get-convex/convex-backend npm-packages/udf-runtime/src/23_request.ts";
const ACTION_FETCH = "get-convex/convex-backend crates/isolate/src/environment/action/fetch.rs";

const SITE: Files = moduleFile(
  "http",
  `const http = httpRouter(); const answer = (path: string, handler: (request: Request) => Promise<Response>) => { for (const method of ["GET", "POST"] as const) http.route({ path, method, handler: httpAction(async (_ctx, request) => await handler(request)) }); };
answer("/echo", async (request) => Response.json([request.method, request.headers.get("content-type"), request.headers.get("authorization"), await request.text()], { headers: { "x-own": "1" } }));
answer("/301", async () => Response.redirect("/echo", 301));
answer("/303", async () => Response.redirect("/echo", 303));
answer("/307", async () => Response.redirect("/echo", 307));
answer("/loop", async () => Response.redirect("/loop"));
answer("/stream", async () => { let n = 0; return new Response(new ReadableStream({ async pull(controller) { if (n === 3) return controller.close(); await new Promise((resolve) => setTimeout(resolve, 1)); controller.enqueue(new TextEncoder().encode("part" + n++)); } })); });
answer("/slow", async () => { await new Promise((resolve) => setTimeout(resolve, 5000)); return new Response(); });
export default http;`,
);

function row(id: string, rule: string, body: string, expected: Expected, citation = FETCH): Row {
  const files = {
    ...SITE,
    ...moduleFile(
      "m",
      `export const run = action({ args: {}, handler: async (): Promise<any> => {\nconst site = process.env.CONVEX_SITE_URL!;\n${body}\n} });`,
    ),
  };
  return { id: `web_fetch/${id}`, rule, citation, files, steps: [{ call: "action", path: "m:run" }], expected };
}

export const rows: readonly Row[] = [
  row(
    "response",
    "What comes is a Response of the context's.",
    `const response = await fetch(site + "/echo", { method: "POST", body: JSON.stringify({ a: 1 }), headers: { "content-type": "application/json" } }); const json = (await response.clone().json()) as any;
return [response instanceof Response, json instanceof Array, json, response.status, response.ok, response.headers.get("x-own"), response.url === site + "/echo", response.redirected, response.type];`,
    {
      value: [true, true, ["POST", "application/json", null, '{"a":1}'], 200, true, "1", true, false, "basic"],
    },
  ),
  row(
    "bodies",
    "Bodies of any kind are sent, and a stream needs nothing said of it.",
    `const sent = async (body: any) => ((await (await fetch(site + "/echo", { method: "POST", body })).json()) as any)[3];
const stream = new ReadableStream({ start(controller) { controller.enqueue(new TextEncoder().encode("a")); controller.enqueue(new TextEncoder().encode("b")); controller.close(); } });
return [await sent("é"), await sent(new URLSearchParams({ a: "b" })), await sent(new Blob(["c"])), await sent(new Uint8Array([100, 101]).subarray(1)), await sent(stream)];`,
    { value: ["é", "a=b", "c", "e", "ab"] },
  ),
  row(
    "request",
    "A Request can be fetched.",
    `return await (await fetch(new Request(site + "/echo", { method: "POST", body: "a", headers: { authorization: "b" } }))).json();`,
    { value: ["POST", "text/plain;charset=UTF-8", "b", "a"] },
  ),
  row(
    "streamed",
    "A body can be read as it comes.",
    `const reader = (await fetch(site + "/stream")).body!.pipeThrough(new TextDecoderStream()).getReader(); let text = ""; for (;;) { const { done, value } = await reader.read(); if (done) return text; text += value; }`,
    { value: "part0part1part2" },
  ),
  row(
    "redirects",
    "Redirects are followed, as a GET where the answer asks for one.",
    `const answers = []; for (const path of ["/301", "/303", "/307"]) { const response = await fetch(site + path, { method: "POST", body: "a" }); answers.push([...((await response.json()) as any), response.redirected, response.url === site + "/echo"]); } return answers;`,
    {
      value: [
        ["GET", null, null, "", true, true],
        ["GET", null, null, "", true, true],
        ["POST", "text/plain;charset=UTF-8", null, "a", true, true],
      ],
    },
  ),
  row(
    "redirect-manual",
    "They can be taken as they are.",
    `const response = await fetch(site + "/301", { redirect: "manual" }); return [response.status, response.headers.get("location"), response.redirected];`,
    { value: [301, "/echo", false] },
  ),
  row("redirect-error", "They can be an error.", `await fetch(site + "/301", { redirect: "error" });`, {
    rejects: "TypeError: fetch attempted redirect",
  }),
  row("redirect-loop", "There is an end to them.", `await fetch(site + "/loop");`, {
    rejects: "TypeError: fetch too many redirects",
  }),
  row(
    "redirect-stream",
    "A stream cannot be sent again.",
    `const body = new ReadableStream({ start(controller) { controller.close(); } }); await fetch(site + "/307", { method: "POST", body });`,
    { rejects: "TypeError: fetch cannot redirect with streamed body" },
  ),
  row(
    "abort",
    "A request can be given up.",
    `const controller = new AbortController(); const given = { own: "reason" }; setTimeout(() => controller.abort(given), 10);
const reason = await fetch(site + "/slow", { signal: controller.signal }).catch((error) => error);
return [reason === given, await fetch(site, { signal: AbortSignal.abort() }).catch((error) => error.name), await fetch(site + "/slow", { signal: AbortSignal.timeout(10) }).catch((error) => error.name)];`,
    { value: [true, "AbortError", "TimeoutError"] },
    REQUESTS,
  ),
  row("data", "Only HTTP can be fetched.", `await fetch("data:,a");`, {
    rejects: "TypeError: Unsupported URL scheme -- http and https are supported (scheme was data)",
  }),
  row("file", "No file can.", `await fetch("file:///etc/hosts");`, {
    rejects: "TypeError: Unsupported URL scheme -- http and https are supported (scheme was file)",
  }),
  row("relative", "A URL is a whole one.", `await fetch("/echo");`, { rejects: "TypeError: Invalid URL: '/echo'" }),
  row(
    "unreachable",
    "What cannot be sent is an error of the context's.",
    `return await fetch("http://127.0.0.1:1/a").catch((error) => [error.constructor === TypeError, error.message.split(":").slice(0, 2).join(":")]);`,
    { value: [true, "error sending request for url (http://127.0.0.1"] },
    ACTION_FETCH,
  ),
];
