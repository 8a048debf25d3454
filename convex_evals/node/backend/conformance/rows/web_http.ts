/** `Headers`, `FormData`, `Request`, `Response`, and HTTP actions, which are given the one and give the other. */

import { moduleFile, type Expected, type Row, type Step } from "../harness.ts";

const RUNTIME = "get-convex/convex-backend npm-packages/udf-runtime/src";
const HEADERS = `${RUNTIME}/20_headers.ts`;
const FORMS = `${RUNTIME}/21_formdata.ts`;
const BODIES = `${RUNTIME}/22_body.ts`;
const REQUESTS = `${RUNTIME}/23_request.ts`;
const RESPONSES = `${RUNTIME}/23_response.ts`;

const RUN: Step = { call: "action", path: "m:run" };

function row(id: string, rule: string, citation: string, body: string, expected: Expected): Row {
  const files = moduleFile(
    "m",
    `export const run = action({ args: {}, handler: async (): Promise<any> => {\n${body}\n} });`,
  );
  return { id: `web_http/${id}`, rule, citation, files, steps: [RUN], expected };
}

/** An HTTP action that answers every request below "/". */
function served(
  id: string,
  rule: string,
  citation: string,
  { handler, request, expected }: { handler: string; request?: RequestInit; expected: Expected },
): Row {
  const methods = ["GET", "POST"].map(
    (method) => `http.route({ pathPrefix: "/", method: "${method}", handler: httpAction(handler) });`,
  );
  const files = moduleFile(
    "http",
    `const http = httpRouter(); const handler = async (ctx: any, request: Request): Promise<Response> => {\n${handler}\n};\n${methods.join("\n")}\nexport default http;`,
  );
  const step: Step = { request: "/path?q=1", ...(request ? { init: request } : {}) };
  return { id: `web_http/${id}`, rule, citation, files, steps: [step], expected };
}

const headers: readonly Row[] = [
  row(
    "headers",
    "Headers are listed in the order in which they were added, by lower-case names.",
    HEADERS,
    `const headers = new Headers({ "X-B": "1", a: "2" }); headers.append("x-b", "3"); const got = headers.get("X-B");
const all = [...headers]; headers.set("x-B", "4"); headers.delete("A"); headers.append("Set-Cookie", "c=1"); headers.append("set-cookie", "d=2");
return [got, all, [...headers.keys()], [...headers.values()], headers.getSetCookie(), headers.has("a"), headers.get("a"), String(headers)];`,
    {
      value: [
        "1, 3",
        [
          ["x-b", "1"],
          ["a", "2"],
          ["x-b", "3"],
        ],
        ["x-b", "set-cookie", "set-cookie"],
        ["4", "c=1", "d=2"],
        ["c=1", "d=2"],
        false,
        null,
        "[object Headers]",
      ],
    },
  ),
  row("headers-name", "Not every text is a name.", HEADERS, `new Headers().set("a b", "c");`, {
    rejects: "TypeError: Failed to execute 'set' on 'Headers': Invalid name",
  }),
];

const forms: readonly Row[] = [
  row(
    "form-multipart",
    "A form with files goes through a body and comes back.",
    FORMS,
    `const form = new FormData(); form.append("text", "é\\n\\"x\\""); form.append("text", "2"); form.append("na\\"me", new Blob(["\\u0000bytes\\r\\n--"], { type: "text/x-own" }), "fi\\"le.txt"); form.set("last", "3");
const request = new Request("https://a.b/", { method: "POST", body: form }); const type = request.headers.get("content-type")!;
const back = await request.formData(); const file = back.get("na\\"me") as File;
return [type.split("=")[0], back.getAll("text"), file instanceof File, file.name, file.type, await file.text(), back.get("last"), [...back.keys()]];`,
    {
      value: [
        "multipart/form-data; boundary",
        ['é\r\n"x"', "2"],
        true,
        'fi"le.txt',
        "text/x-own",
        "\u0000bytes\r\n--",
        "3",
        ["text", "text", 'na"me', "last"],
      ],
    },
  ),
  row(
    "form-encoded",
    "An encoded form is one, too.",
    FORMS,
    `const response = new Response(new URLSearchParams({ a: "1 2", b: "é" }), { headers: { "content-type": "application/x-www-form-urlencoded" } }); return [...(await response.formData())];`,
    {
      value: [
        ["a", "1 2"],
        ["b", "é"],
      ],
    },
  ),
  row("form-other", "Other bodies are no forms.", FORMS, `await new Response("a").formData();`, {
    rejects: "TypeError: Body cannot be decoded as form data",
  }),
];

const bodies: readonly Row[] = [
  row(
    "bodies",
    "A body is made of texts, bytes, blobs, parameters and streams, and has their content type.",
    BODIES,
    `const bytes = new TextEncoder().encode("bytes");
const stream = new ReadableStream({ start(controller) { controller.enqueue(bytes); controller.enqueue(bytes.subarray(0, 1)); controller.close(); } });
const all = ["text", new URLSearchParams({ a: "b" }), new Blob(["blob"], { type: "text/x-own" }), bytes, bytes.buffer, new DataView(bytes.buffer, 1), stream, 1 as any];
return await Promise.all(all.map(async (body) => { const request = new Request("https://a.b", { method: "PUT", body }); return [request.headers.get("content-type"), await request.text()]; }));`,
    {
      value: [
        ["text/plain;charset=UTF-8", "text"],
        ["application/x-www-form-urlencoded;charset=UTF-8", "a=b"],
        ["text/x-own", "blob"],
        [null, "bytes"],
        [null, "bytes"],
        [null, "ytes"],
        [null, "bytesb"],
        ["text/plain;charset=UTF-8", "1"],
      ],
    },
  ),
  row(
    "read",
    "A body is read in any form, as objects of the context.",
    BODIES,
    `const of = () => new Response('{"a":[1]}', { headers: { "content-type": "text/x-own" } }); const json = (await of().json()) as any; const blob = await of().blob(); const chunks = []; for await (const chunk of of().body as any) chunks.push(chunk);
return [json instanceof Object, Array.isArray(json.a), json.a instanceof Array, (await of().arrayBuffer()).byteLength, (await of().bytes()) instanceof Uint8Array, blob instanceof Blob, blob.type, chunks.map((chunk) => chunk.length), of().body instanceof ReadableStream, new Response().body];`,
    { value: [true, true, true, 9, true, true, "text/x-own", [9], true, null] },
  ),
  row(
    "read-once",
    "A body is read once.",
    BODIES,
    `const response = new Response("a"); const before = response.bodyUsed; await response.text(); const none = new Response(); await none.text(); await none.text(); return [before, response.bodyUsed, none.bodyUsed, await response.text().catch((error) => [error instanceof TypeError, error.message])];`,
    {
      value: [false, true, false, [true, "Failed to execute 'text' on 'Response': body stream already read"]],
    },
  ),
  row(
    "clone",
    "A copy has a body of its own.",
    REQUESTS,
    `const request = new Request("https://a.b/?c", { method: "POST", headers: { d: "e" }, body: "f" }); const copy = request.clone(); copy.headers.set("d", "g");
const stream = new Response(new ReadableStream({ start(controller) { controller.enqueue(new Uint8Array([104])); controller.close(); } }), { status: 201 }); const other = stream.clone();
return [copy.url, copy.method, request.headers.get("d"), await copy.text(), await request.text(), await stream.text(), await other.text(), other.status];`,
    { value: ["https://a.b/?c", "POST", "e", "f", "f", "h", "h", 201] },
  ),
];

const messages: readonly Row[] = [
  row(
    "request",
    "A request is made of another, with other parts.",
    REQUESTS,
    `const first = new Request(new URL("https://a.b/c"), { method: "post", headers: { d: "e" }, body: "f" }); const second = new Request(first, { method: "PATCH" });
return [second.url, second.method, second.headers.get("d"), await second.text(), first.bodyUsed, first.signal instanceof AbortSignal, first.signal.aborted, Object.prototype.toString.call(first)];`,
    { value: ["https://a.b/c", "PATCH", "e", "f", true, true, false, "[object Request]"] },
  ),
  row("request-relative", "A request's URL is a whole one.", REQUESTS, `new Request("/a");`, {
    rejects: "TypeError: Invalid URL: '/a'",
  }),
  row("request-scheme", "It is one of HTTP.", REQUESTS, `new Request("data:,a");`, {
    rejects: "TypeError: Unsupported URL scheme -- http and https are supported (scheme was data)",
  }),
  row("request-get-body", "A GET has no body.", REQUESTS, `new Request("https://a.b", { body: "c" });`, {
    rejects: "TypeError: Failed to construct 'Request': Request with GET/HEAD method cannot have body.",
  }),
  row(
    "request-mode",
    "Convex lacks parts of requests, and says so.",
    REQUESTS,
    `return new Request("https://a.b").mode;`,
    {
      rejects: "Not implemented: get mode for Request. Consider calling an action defined in Node.js instead",
    },
  ),
  row(
    "response",
    "Responses are made in short ways, too.",
    RESPONSES,
    `const json = Response.json({ a: 1 }, { status: 201 }); const redirect = Response.redirect("/b", 301);
return [json.status, json.ok, json.headers.get("content-type"), await json.text(), redirect.status, redirect.headers.get("location"), Response.error().status, new Response("", { status: 204 }).status, new Response("a", { statusText: "b" }).statusText, json.type, json.url, json.redirected];`,
    { value: [201, true, "application/json", '{"a":1}', 301, "/b", 500, 204, "b", "default", "", false] },
  ),
  row("response-status", "A status is one of an answer.", RESPONSES, `new Response(null, { status: 199 });`, {
    rejects: "RangeError: Failed to construct 'Response': The status provided is outside the range [200, 599].",
  }),
  row("response-json", "Not all data are JSON.", RESPONSES, `Response.json(undefined);`, {
    rejects: "TypeError: Failed to execute 'json' on 'Response': The data is not JSON serializable",
  }),
  {
    id: "web_http/fresh",
    rule: "What a call changes of the classes, it changes for itself.",
    citation: "get-convex/convex-backend crates/isolate/src/context_cache.rs",
    files: moduleFile(
      "m",
      `export const run = action({ args: {}, handler: async () => { const classes = [Headers, FormData, Request, Response] as any[]; const before = classes.flatMap((own) => [own.kept, own.prototype.kept, Object.getPrototypeOf(own).kept]).filter(Boolean);
for (const own of classes) { own.kept = own.prototype.kept = 1; if (Object.getPrototypeOf(own) !== Function.prototype) Object.getPrototypeOf(own).kept = 1; } Headers.prototype.get = () => "kept"; return [before.length, new Headers({ a: "b" }).get("a")]; } });`,
    ),
    steps: [RUN, RUN],
    expected: { value: [0, "kept"] },
  },
];

const httpActions: readonly Row[] = [
  served("action-request", "An HTTP action is given the request as a Request of its own.", REQUESTS, {
    handler: `const json = await request.json(); return Response.json([request instanceof Request, request.method, new URL(request.url).pathname + new URL(request.url).search, request.headers.get("x-own"), json instanceof Object, Array.isArray(json.list), request.bodyUsed]);`,
    request: { method: "POST", headers: { "x-own": "1" }, body: '{"list":[]}' },
    expected: { value: { status: 200, body: '[true,"POST","/path?q=1","1",true,true,true]' } },
  }),
  served("action-headers", "It sees the host and the length of the body among its headers.", REQUESTS, {
    handler: `return Response.json([request.headers.get("content-length"), /^127\\.0\\.0\\.1:|^localhost:/.test(request.headers.get("host") ?? ""), await request.text()]);`,
    request: { method: "POST", body: "12345" },
    expected: { value: { status: 200, body: '["5",true,"12345"]' } },
  }),
  served("action-204", "A response without content may have an empty body.", RESPONSES, {
    handler: `return new Response("", { status: 204 });`,
    expected: { value: { status: 204, body: "" } },
  }),
  served("action-bytes", "A body of bytes goes out as it is.", RESPONSES, {
    handler: `return new Response(new Blob([await request.arrayBuffer(), new Uint8Array([226, 130, 172])]), { status: 418 });`,
    request: { method: "POST", body: "a" },
    expected: { value: { status: 418, body: "a€" } },
  }),
  served("action-stream", "A body that is streamed is produced in the call that it belongs to.", RESPONSES, {
    handler: `let n = 0; return new Response(new ReadableStream({ async pull(controller) { if (n === 3) return controller.close(); await new Promise((resolve) => setTimeout(resolve, 1)); controller.enqueue(new TextEncoder().encode("part" + n++)); } }));`,
    expected: { value: { status: 200, body: "part0part1part2" } },
  }),
  served("action-piped", "The request's own body can be the response's.", RESPONSES, {
    handler: `return new Response(request.body!.pipeThrough(new TransformStream()));`,
    request: { method: "POST", body: "echo" },
    expected: { value: { status: 200, body: "echo" } },
  }),
  served("action-form", "It reads forms.", FORMS, {
    handler: `const form = await request.formData(); const file = form.get("file") as File; return Response.json([form.get("a"), file.name, file.type, await file.text()]);`,
    request: { method: "POST", body: formWithFile() },
    expected: { value: { status: 200, body: '["1","f.txt","text/plain","content"]' } },
  }),
];

function formWithFile(): FormData {
  const form = new FormData();
  form.append("a", "1");
  form.append("file", new File(["content"], "f.txt", { type: "text/plain" }));
  return form;
}

export const rows: readonly Row[] = [...headers, ...forms, ...bodies, ...messages, ...httpActions];
