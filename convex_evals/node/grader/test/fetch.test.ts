import assert from "node:assert/strict";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { test, type TestContext } from "node:test";
import { leanFetch } from "../fetch.ts";

type Answer = (request: IncomingMessage, body: string, response: ServerResponse) => void;

/** The address of a server that answers as told. */
async function serve(t: TestContext, answer: Answer): Promise<string> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request
      .on("data", (chunk: Buffer) => chunks.push(chunk))
      .on("end", () => answer(request, Buffer.concat(chunks).toString(), response));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://localhost:${(server.address() as AddressInfo).port}`;
}

const POST = { method: "POST", headers: { "Content-Type": "application/json", Authorization: "Convex key" } };

test("method, path, headers and body arrive, and the answer comes back as text and as JSON", async (t) => {
  const url = await serve(t, ({ method, url: path, headers }, body, response) => {
    const { host, "content-type": type, authorization: auth } = headers;
    response.end(JSON.stringify({ method, path, host, type, auth, body }));
  });
  const response = await leanFetch(`${url}/api/query`, { ...POST, body: "žluťoučký 🐎" });
  assert.ok(response.ok);
  const said = {
    method: "POST",
    path: "/api/query",
    host: new URL(url).host,
    type: "application/json",
    auth: "Convex key",
    body: "žluťoučký 🐎",
  };
  assert.deepEqual(await response.json(), said);
  assert.equal(await response.text(), JSON.stringify(said));
});

test("characters that are cut in two by chunks are whole", async (t) => {
  const bytes = Buffer.from('{"horse":"🐎"}');
  const url = await serve(t, (_request, _body, response) => {
    response.write(bytes.subarray(0, 11));
    setTimeout(() => response.end(bytes.subarray(11)), 20);
  });
  assert.deepEqual(await (await leanFetch(url, POST)).json(), { horse: "🐎" });
});

test("another status than 2xx is not ok", async (t) => {
  const url = await serve(t, (_request, _body, response) => response.writeHead(560).end("no"));
  const response = await leanFetch(url, POST);
  assert.deepEqual([response.ok, response.status, await response.text()], [false, 560, "no"]);
});

test("one connection serves calls that follow each other", async (t) => {
  const ports = new Set<number | undefined>();
  const url = await serve(t, ({ socket }, _body, response) => {
    ports.add(socket.remotePort);
    response.end("{}");
  });
  for (let call = 0; call < 5; call++) await leanFetch(url, POST);
  assert.equal(ports.size, 1);
});

test("nobody there, and somebody who breaks off, are errors as `fetch` has them", async (t) => {
  await assert.rejects(
    leanFetch("http://localhost:1", POST),
    (error: TypeError) => error.message === "fetch failed" && error.cause instanceof Error,
  );
  const url = await serve(t, (_request, _body, response) => {
    response.write('{"half');
    setTimeout(() => response.destroy(), 20);
  });
  await assert.rejects(leanFetch(url, POST), TypeError);
});
