/**
 * Nothing that an app can reach is shared by two calls: every object that can be reached from the globals of a context, and
 * from instances and errors of all its classes, gets a mark in one call, which the next one looks for.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { api, deploy } from "./harness.ts";

const WALK = `
const caught = async (run: () => unknown): Promise<unknown> => { try { return await run(); } catch (error) { return error; } };
const deep = (): unknown => { let found: unknown; const down = (): void => { try { down(); } catch (error) { found = error; } }; down(); return found; };
// What is thrown where hardly any stack is left, by code on either side of the border.
function thrownAtTheBottom(run: () => unknown): unknown[] {
  const thrown: unknown[] = []; let left = 60;
  const down = (): void => { try { down(); } catch (error) { thrown.push(error); } if (left-- > 0) try { const given = run() as any; if (typeof given?.then === "function") given.then(null, (error: unknown) => thrown.push(error)); thrown.push(given); } catch (error) { thrown.push(error); } };
  down();
  return thrown;
}
const CROSSINGS: (() => unknown)[] = [() => console.log("x"), () => process.env.X, () => (globalThis as any).Convex.syscall("nope", "{}"), () => (globalThis as any).Convex.asyncSyscall("nope", "{}"), () => (globalThis as any).Convex.jsSyscall("nope", {}),
  () => new URL("http://a/?b"), () => new URL("nope"), () => new URLSearchParams("a=b"), () => atob("YQ=="), () => btoa("a"), () => new TextEncoder().encode("é"), () => new TextDecoder().decode(new Uint8Array([233])), () => structuredClone({ a: [1] }),
  () => crypto.getRandomValues(new Uint8Array(4)), () => crypto.randomUUID(), () => crypto.subtle.digest("SHA-1", new Uint8Array(1)), () => performance.now(), () => setTimeout(() => {}, 1), () => clearTimeout(1), () => fetch("http://127.0.0.1:1/"),
  ...Object.getOwnPropertyNames(WebAssembly).flatMap((name) => { const given = (WebAssembly as any)[name]; return [() => given({}), () => new given({})]; }),
  () => new Blob(["x"]).text(), () => new Response("x").text(), () => new Headers([["a", "b"]]), () => new (globalThis as any).AsyncLocalStorage().run(1, () => 1), () => (globalThis as any).AsyncLocalStorage.snapshot(), () => new (globalThis as any).AsyncResource("x").runInAsyncScope(() => 1), () => AbortSignal.timeout(5), () => Date.now(), () => new Date()];
async function instances(): Promise<unknown[]> {
  const controllers: unknown[] = [];
  const bytes = new ReadableStream({ type: "bytes", pull(c) { controllers.push(c, c.byobRequest); c.enqueue(new Uint8Array([1])); c.close(); } } as any);
  const chunks = new ReadableStream({ pull(c) { controllers.push(c); c.enqueue(new Uint8Array([1])); c.close(); } });
  const pipe = new TransformStream({ transform(chunk, c) { controllers.push(c); c.enqueue(chunk); } });
  const key = await crypto.subtle.importKey("raw", new Uint8Array(16), { name: "HMAC", hash: "SHA-256" }, true, ["sign", "verify"]);
  const response = new Response("text"), form = new FormData(), url = new URL("http://a/?b=1"), headers = new Headers({ a: "b" });
  form.append("file", new Blob(["x"]), "name"); form.append("text", "x");
  const abort = new AbortController();
  const { AsyncLocalStorage, AsyncResource } = globalThis as any;
  return [
    ...controllers, globalThis, bytes, chunks, pipe, pipe.readable, pipe.writable, pipe.writable.getWriter(), key, key.algorithm, key.usages, response, response.headers, response.body,
    await bytes.getReader().read(), chunks.getReader(), await new Response("a").arrayBuffer(), await new Response("[1]").json(), await new Response("a").blob(), new Response("a").clone(),
    form, form.entries(), form.get("file"), url, url.searchParams, url.searchParams.entries(), headers, headers.entries(), headers[Symbol.iterator](), new Request("http://a/", { method: "POST", body: "x" }),
    new Request("http://a/").signal, abort, abort.signal, abort.abort(), abort.signal.reason, AbortSignal.any([abort.signal]), new Event("x"), new EventTarget(), new DOMException("x"), new Blob(["x"]), new Blob(["x"]).stream(),
    new File(["x"], "y"), new TextEncoder(), new TextEncoder().encode("a"), new TextEncoder().encodeInto("a", new Uint8Array(1)), new TextDecoder(), new TextEncoderStream(), new TextDecoderStream(), structuredClone(new Map([[1, { a: new Date(0) }]])),
    structuredClone(new Error("x")), structuredClone(new Uint8Array(2)), crypto, crypto.subtle, performance, await crypto.subtle.digest("SHA-256", new Uint8Array(1)), await crypto.subtle.exportKey("jwk", key),
    await crypto.subtle.sign("HMAC", key, new Uint8Array(1)), new AsyncLocalStorage(), new AsyncResource("x"), AsyncLocalStorage.snapshot(), AsyncLocalStorage.bind(() => 1), process, process.env, console,
    ...CROSSINGS.flatMap(thrownAtTheBottom),
    ...(await Promise.all([() => new URL(""), () => atob("%"), () => structuredClone(() => 0), () => new (TextDecoder as any)("nope"), () => crypto.subtle.digest("nope", new Uint8Array(1)), () => new Headers({ "\\n": "x" }),
      () => new Response("x", { status: 1 }), () => new Request("nope"), () => new Response("{").json(), () => new Blob(1 as any), () => crypto.getRandomValues(new Float32Array(1) as any), () => crypto.subtle.sign("HMAC", {} as any, new Uint8Array(1)),
      () => fetch("nope:"), () => fetch("http://127.0.0.1:1/"), () => setTimeout(() => {}, 1), () => (globalThis as any).Convex.syscall("nope", "{}"), () => (globalThis as any).Convex.asyncSyscall("nope", "{}"), () => null!.x, () => JSON.parse("{"), () => eval("1"),
      () => new Function("return 1")(), () => import(["./nope"][0]!), deep, () => { const all: any = { get a() { return structuredClone(all); } }; return structuredClone(all); }].map(caught))),
  ];
}
async function visitAll(visit: (object: object, path: string) => void): Promise<void> {
  const seen = new Set<unknown>(); const waiting: [unknown, string][] = (await instances()).map((object, index) => [object, String(index)]);
  while (waiting.length > 0) {
    const [object, path] = waiting.pop()!;
    if ((typeof object !== "object" && typeof object !== "function") || object === null || seen.has(object)) continue;
    seen.add(object); visit(object, path); waiting.push([Object.getPrototypeOf(object), path + ".^"]);
    for (const key of Reflect.ownKeys(object)) {
      const property = Object.getOwnPropertyDescriptor(object, key)!;
      for (const part of ["value", "get", "set"] as const) if (part in property) waiting.push([(property as any)[part], path + "." + String(key)]);
      if (property.get) try { const got = (object as any)[key]; if (got instanceof Promise) got.catch(() => {}); waiting.push([got, path + "." + String(key)]); } catch {}
    }
    if (object instanceof Map) for (const [key, value] of object) waiting.push([key, path + ".key"], [value, path + ".value"]);
    if (object instanceof Set) for (const value of object) waiting.push([value, path + ".item"]);
  }
}
const MARK = "left by an earlier call";
async function mark(): Promise<number> { let marked = 0; await visitAll((object) => { if (Reflect.defineProperty(object, MARK, { value: 1, configurable: true })) marked += 1; }); return marked; }
async function marked(): Promise<string[]> { const found: string[] = []; await visitAll((object, path) => { if (Object.hasOwn(object, MARK)) found.push(path); }); return found.slice(0, 40); }
`;

const APP = `import { action, mutation, query } from "./_generated/server";
${WALK}
export const markInQuery = query({ args: {}, handler: mark });
export const markInMutation = mutation({ args: {}, handler: mark });
export const markInAction = action({ args: {}, handler: mark });
export const foundInQuery = query({ args: {}, handler: marked });
export const foundInAction = action({ args: {}, handler: marked });`;

const HTTP = `import { httpRouter } from "convex/server"; import { httpAction } from "./_generated/server";
const router = httpRouter();
const everything = (request: any): any[] => [request, request.headers, request.headers.entries(), request.signal, request.body, Object.getPrototypeOf(request)];
router.route({ path: "/mark", method: "POST", handler: httpAction(async (_ctx, request) => { for (const object of everything(request)) if (object) object.left = 1; return new Response(null); }) });
router.route({ path: "/found", method: "POST", handler: httpAction(async (_ctx, request) => Response.json(everything(request).filter((object) => object?.left).length)) });
export default router;`;

test("no object that an app reaches is shared by two calls", async (t) => {
  const { http, backend } = await deploy(t, { "convex/m.ts": APP, "convex/http.ts": HTTP });
  const marks: Record<string, () => Promise<unknown>> = {
    "a query": () => http.query(api.m.markInQuery, {}),
    "a mutation": () => http.mutation(api.m.markInMutation, {}),
    "an action": () => http.action(api.m.markInAction, {}),
  };
  for (const [what, mark] of Object.entries(marks)) {
    const marked = Number(await mark());
    assert.ok(marked > 500, `${what} marks ${marked} objects`);
    assert.deepEqual(await http.query(api.m.foundInQuery, {}), [], `a query after ${what}`);
    assert.deepEqual(await http.action(api.m.foundInAction, {}), [], `an action after ${what}`);
  }
  const post = async (path: string): Promise<Response> =>
    await fetch(backend.siteUrl + path, { method: "POST", body: "x" });
  assert.equal((await post("/mark")).status, 200);
  assert.equal(await (await post("/found")).json(), 0);
});
