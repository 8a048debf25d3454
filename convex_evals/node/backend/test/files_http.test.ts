import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { api, deploy, errorOf } from "./harness.ts";

const FILES = {
  "convex/files.ts": `
    import { query, mutation, action } from "./_generated/server"; import { v } from "convex/values";
    export const uploadUrl = mutation({ args: {}, handler: async (ctx) => await ctx.storage.generateUploadUrl() });
    export const url = query({ args: { id: v.id("_storage") }, handler: async (ctx, { id }) => await ctx.storage.getUrl(id) });
    export const info = query({ args: { id: v.id("_storage") }, handler: async (ctx, { id }) => [await ctx.db.system.get(id), await ctx.storage.getMetadata(id)] });
    export const remove = mutation({ args: { id: v.id("_storage") }, handler: async (ctx, { id }) => { await ctx.storage.delete(id); } });
    export const anyId = query({ args: { id: v.string() }, handler: async (ctx, { id }) => await ctx.storage.getUrl(id as any) });
    export const store = action({ args: { text: v.string() }, handler: async (ctx, { text }) => await ctx.storage.store(new Blob([text], { type: "text/x-test" })) });
    export const storeInMutation = mutation({ args: {}, handler: async (ctx) => {
      const id = await (ctx.storage as any).store(new Blob(["in mutation"], { type: "text/plain" }));
      return [id, await (await (ctx.storage as any).get(id)).text()];
    } });
    export const all = query({ args: {}, handler: async (ctx) => (await ctx.db.system.query("_storage").collect()).length });`,
  "convex/http.ts": `
    import { httpRouter } from "convex/server"; import { httpAction } from "./_generated/server"; import { api } from "./_generated/api";
    const http = httpRouter();
    http.route({ path: "/echo", method: "POST", handler: httpAction(async (_ctx, request) => {
      return new Response(await request.text(), { status: 201, headers: { "x-header": request.headers.get("x-sent") ?? "", "content-type": "text/plain" } });
    }) });
    http.route({ path: "/url", method: "GET", handler: httpAction(async (ctx, request) => Response.json({ url: request.url, user: (await ctx.auth.getUserIdentity())?.subject ?? null })) });
    http.route({ pathPrefix: "/files/", method: "GET", handler: httpAction(async (ctx, request) => Response.json(new URL(request.url).pathname)) });
    http.route({ path: "/stream", method: "GET", handler: httpAction(async () => {
      let n = 0;
      const body = new ReadableStream({ async pull(c) { if (n === 3) return c.close(); await new Promise((r) => setTimeout(r, 30)); c.enqueue(new TextEncoder().encode("part" + n++)); } });
      return new Response(body);
    }) });
    http.route({ path: "/boom", method: "GET", handler: httpAction(async () => { throw new Error("http boom"); }) });
    http.route({ path: "/cookies", method: "GET", handler: httpAction(async () => { const headers = new Headers(); headers.append("set-cookie", "a=1"); headers.append("set-cookie", "b=2"); return new Response(null, { status: 204, headers }); }) });
    http.route({ path: "/upload", method: "POST", handler: httpAction(async (ctx, request) => Response.json(await ctx.storage.store(await request.blob()))) });
    export default http;`,
};

test("files", async (t) => {
  const { http, backend, admin } = await deploy(t, FILES);
  const files = api.files!;

  await t.test("upload by URL, metadata, download, deletion", async () => {
    const uploadUrl = (await http.mutation(files.uploadUrl)) as string;
    const uploaded = await fetch(uploadUrl, {
      method: "POST",
      headers: { "content-type": "image/png" },
      body: new Uint8Array([1, 2, 3, 255]),
    });
    const { storageId: id } = (await uploaded.json()) as { storageId: string };
    const [document, metadata] = (await http.query(files.info, { id })) as [
      Record<string, unknown>,
      Record<string, unknown>,
    ];
    const digest = createHash("sha256")
      .update(new Uint8Array([1, 2, 3, 255]))
      .digest();
    assert.deepEqual(
      [document["size"], document["contentType"], document["sha256"]],
      [4, "image/png", digest.toString("base64")],
    );
    assert.deepEqual(metadata, { storageId: id, sha256: digest.toString("hex"), size: 4, contentType: "image/png" });
    const url = (await http.query(files.url, { id })) as string;
    const downloaded = await fetch(url);
    assert.equal(downloaded.headers.get("content-type"), "image/png");
    assert.deepEqual(new Uint8Array(await downloaded.arrayBuffer()), new Uint8Array([1, 2, 3, 255]));
    await http.mutation(files.remove, { id });
    assert.equal((await fetch(url)).status, 404);
    assert.equal(await http.query(files.url, { id }), null);
    assert.match((await errorOf(() => http.mutation(files.remove, { id }))).message, /not found/);
  });

  await t.test("stored by functions", async () => {
    const id = (await http.action(files.store, { text: "hello" })) as string;
    assert.equal(await (await fetch((await http.query(files.url, { id })) as string)).text(), "hello");
    const [, text] = (await http.mutation(files.storeInMutation)) as [string, string];
    assert.equal(text, "in mutation");
    assert.equal(await http.query(files.all), 2);
    const listed = (await admin.query(
      "_system/frontend/listTableScan" as never,
      { table: "_storage", limit: 10 } as never,
    )) as unknown[];
    assert.equal(listed.length, 2);
  });

  await t.test("wrong ids and tokens are refused", async () => {
    assert.match((await errorOf(() => http.query(files.anyId, { id: "nonsense" }))).message, /Invalid storage ID/);
    assert.equal(
      (await fetch(`${backend.url}/api/storage/upload?token=nope`, { method: "POST", body: "x" })).status,
      400,
    );
    assert.equal((await fetch(`${backend.url}/api/storage/00000000-0000-0000-0000-000000000000`)).status, 404);
  });
});

test("HTTP actions", async (t) => {
  const { backend } = await deploy(t, FILES);

  await t.test("method, headers, body, status", async () => {
    const answer = await fetch(`${backend.siteUrl}/echo`, {
      method: "POST",
      headers: { "x-sent": "yes" },
      body: "héllo",
    });
    assert.deepEqual([answer.status, answer.headers.get("x-header"), await answer.text()], [201, "yes", "héllo"]);
    assert.equal((await fetch(`${backend.siteUrl}/echo`, { method: "POST" })).status, 201);
    const big = await fetch(`${backend.siteUrl}/upload`, { method: "POST", body: new Uint8Array(3 << 20) });
    assert.match((await big.json()) as string, /^[0-9a-z]{32}$/);
  });

  await t.test("routing", async () => {
    assert.deepEqual(await (await fetch(`${backend.siteUrl}/url?a=1`)).json(), {
      url: `${backend.siteUrl}/url?a=1`,
      user: null,
    });
    assert.equal(await (await fetch(`${backend.siteUrl}/files/a/b`)).json(), "/files/a/b");
    const missing = await fetch(`${backend.siteUrl}/missing`);
    assert.deepEqual([missing.status, await missing.text()], [404, "No matching routes found"]);
    assert.equal((await fetch(`${backend.siteUrl}/echo`)).status, 404);
    assert.deepEqual((await fetch(`${backend.siteUrl}/cookies`)).headers.getSetCookie(), ["a=1", "b=2"]);
  });

  await t.test("bodies are streamed", async () => {
    const answer = await fetch(`${backend.siteUrl}/stream`);
    const arrivals: string[] = [];
    for await (const chunk of answer.body as unknown as AsyncIterable<Uint8Array>) {
      arrivals.push(new TextDecoder().decode(chunk));
    }
    assert.deepEqual(arrivals, ["part0", "part1", "part2"]);
  });

  await t.test("a failing action is a 500 with the error", async () => {
    const answer = await fetch(`${backend.siteUrl}/boom`);
    const body = (await answer.json()) as { code: string; trace: string };
    assert.equal(answer.status, 500);
    assert.match(body.code, /^\[Request ID: \w+\] Server Error: Uncaught Error: http boom$/);
    assert.match(body.trace, /^Uncaught Error: http boom\n {4}at /);
  });

  await t.test("an app without http.ts says so", async (tt) => {
    const other = await deploy(tt, { "convex/files.ts": FILES["convex/files.ts"] });
    const answer = await fetch(`${other.backend.siteUrl}/x`);
    assert.deepEqual(
      [answer.status, await answer.text()],
      [404, "This Convex deployment does not have HTTP actions enabled."],
    );
  });
});
