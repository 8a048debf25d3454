/** No object of the host passes through anything that an app can replace in its context. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { startBackend } from "../server.ts";
import { makeProject, post, push } from "./harness.ts";

// Replaces the functions of the language by ones that look at what they are given, and then uses the classes of the web.
const SPY = `
import { action } from "./_generated/server";
const { apply, construct, ownKeys, getPrototypeOf, getOwnPropertyDescriptor, defineProperty } = Reflect;
const { isFrozen } = Object; const { isView } = ArrayBuffer; const RealProxy = Proxy;
const LANGUAGE = Object.prototype;
// The host's, as yet.
const SPARED: any[] = [ArrayBuffer, DataView, Uint8Array, Uint32Array, getPrototypeOf(Uint8Array)].flatMap((one: any) => [one, one.prototype]);
for (const [place, key] of [[ArrayBuffer.prototype, "byteLength"], [getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag]] as const) SPARED.push(getOwnPropertyDescriptor(place, key)!.get);
const found: string[] = []; let looking = false;
function look(value: any, where: string): void {
  if ((typeof value !== "object" || value === null) && typeof value !== "function") return;
  for (let at = 0; at < SPARED.length; at++) if (SPARED[at] === value) return;
  if (isView(value) || value instanceof ArrayBuffer) return;
  let root = value; for (let place = value; place !== null; place = getPrototypeOf(place)) root = place;
  const isHandle = root === value && value !== LANGUAGE && isFrozen(value) && ownKeys(value).length === 0;
  if (isHandle || (root !== LANGUAGE && root !== value)) found[found.length] = where;
}
function watched(own: any, where: string): any {
  return new RealProxy(own, {
    apply: (target, self, args) => {
      if (!looking) { looking = true; look(self, where); for (let at = 0; at < args.length; at++) look(args[at], where); looking = false; }
      const result = apply(target, self, args);
      if (!looking) { looking = true; look(result, where + " returned"); looking = false; }
      return result;
    },
    construct: (target, args, other) => {
      if (!looking) { looking = true; for (let at = 0; at < args.length; at++) look(args[at], where); looking = false; }
      return construct(target, args, other);
    },
  });
}
const NAMES = ["Array", "Boolean", "Date", "Error", "Function", "JSON", "Map", "Math", "Number", "Object", "Promise", "Reflect", "Set", "String", "Symbol", "WeakMap", "WeakRef", "WeakSet", "TypeError", "RangeError", "EventTarget", "Event", "AbortSignal"];
function spy(): void {
  for (const name of NAMES) {
    const own = (globalThis as any)[name];
    for (const place of [own, own.prototype]) {
      if (!place) continue;
      for (const key of ownKeys(place)) {
        const { value, configurable } = getOwnPropertyDescriptor(place, key)!;
        if (typeof value === "function" && configurable && key !== "constructor") defineProperty(place, key, { value: watched(value, name + "." + String(key)), writable: true, configurable: true });
      }
    }
    if (typeof own === "function" && name !== "Function") (globalThis as any)[name] = watched(own, name);
  }
  for (const iterator of [[][Symbol.iterator](), new Map().entries(), new Set().values()]) {
    const place = getPrototypeOf(iterator) as any; place.next = watched(place.next, "next");
  }
  for (const key of ["then", "handle", "host", "subtle", "crypto", "given", "toJSON", "operation"]) {
    defineProperty(LANGUAGE, key, { configurable: true, get() { if (!looking) { looking = true; look(this, "get " + key); looking = false; } return undefined; }, set(value) { defineProperty(this, key, { value, writable: true, enumerable: true, configurable: true }); } });
  }
}
async function use(): Promise<void> {
  const { subtle } = crypto; const bytes = new Uint8Array(16);
  const key = await subtle.generateKey({ name: "AES-GCM", length: 128 }, true, ["encrypt", "decrypt"]) as CryptoKey;
  const params = { name: "AES-GCM", iv: bytes };
  await subtle.decrypt(params, key, await subtle.encrypt(params, key, bytes));
  const pair = await subtle.generateKey({ name: "ECDH", namedCurve: "P-256" }, true, ["deriveBits"]) as CryptoKeyPair;
  await subtle.deriveBits({ name: "ECDH", public: pair.publicKey }, pair.privateKey, 256);
  await subtle.importKey("jwk", await subtle.exportKey("jwk", pair.publicKey), { name: "ECDH", namedCurve: "P-256" }, true, []);
  for (const wrong of [() => subtle.digest("x", bytes), () => subtle.sign("HMAC", key, bytes), () => subtle.importKey("raw", bytes, "Ed25519", true, ["sign"])]) try { await wrong(); } catch (error) { look(error, "error"); }
  crypto.getRandomValues(bytes); crypto.randomUUID();
  const controller = new AbortController(); AbortSignal.any([controller.signal]).onabort = () => {}; AbortSignal.timeout(1); controller.abort();
  performance.mark("a", { startTime: performance.now() });
  for (const object of [crypto, subtle, key, key.algorithm, key.usages, pair, performance, controller, controller.signal, controller.signal.reason]) look(object, String(object));
  await new Promise((resolve) => setTimeout(resolve, 5));
}
export const run = action({ args: {}, handler: async () => { spy(); await use(); looking = true; return found.length === 0 ? "none" : "found in " + found.join(", "); } });
`;

test("the classes of the web keep the host's objects to themselves", async (t) => {
  const backend = await startBackend({});
  t.after(() => backend.close());
  const pushed = await push(backend, makeProject(t, { "convex/m.ts": SPY }));
  assert.equal(pushed.status, 200, JSON.stringify(pushed.body));
  const { body } = await post(`${backend.url}/api/action`, { path: "m:run", args: [{}], format: "json" });
  assert.equal(body["value"], "none", JSON.stringify(body));
});
