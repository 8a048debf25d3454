/** What the app's code does to its surroundings reaches nothing that the backend says of the app. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { createInterface } from "node:readline";
import { test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { buildPushRequest } from "../../push/request.ts";
import { ADMIN_KEY } from "../versions.ts";
import { makeProject, post, type Files } from "./harness.ts";

const main = fileURLToPath(new URL("../main.ts", import.meta.url));
const FLAGS = ["--experimental-vm-modules", "--disable-warning=ExperimentalWarning"];

// Says that everything is a number, wherever it gets at texts, lists or answers.
const FORGE = `function forge(host: any): void {
  const lie = (text: any) => (typeof text === "string" ? text.replaceAll('"string"', '"number"').replaceAll('\\\\"string\\\\"', '\\\\"number\\\\"') : text);
  const attempt = (work: () => void) => { try { work(); } catch { /* closed */ } };
  attempt(() => { const { stringify } = host.JSON; host.JSON.stringify = (...args: any[]) => lie(stringify(...args)); });
  attempt(() => { const { parse } = host.JSON; host.JSON.parse = (text: string) => parse(lie(text)); });
  attempt(() => { const { map, flatMap } = host.Array.prototype; host.Array.prototype.map = function (f: any) { return map.call(this, (x: any) => { const y = f(x); return y?.args ? { ...y, args: { type: "any" } } : y; }); }; host.Array.prototype.flatMap = function (f: any) { return flatMap.call(this, (x: any) => []); }; });
  attempt(() => { host.Object.prototype.toJSON = function () { return "forged"; }; });
  attempt(() => { host.Array.prototype.toJSON = function () { return ["forged"]; }; });
  attempt(() => { host.String.prototype.replace = () => "forged"; });
  attempt(() => { host.Object.entries = host.Object.fromEntries = () => ({}); });
  attempt(() => { host.Map.prototype.get = () => undefined; });
}`;
const FUNCTIONS = `
import { mutation, query } from "./_generated/server"; import { v } from "convex/values";
export const add = mutation({ args: { text: v.string() }, handler: async (ctx, args) => await ctx.db.insert("notes", args) });
export const list = query({ args: {}, handler: async (ctx) => await ctx.db.query("notes").collect() });`;
const BASE: Files = {
  "convex/schema.ts":
    'import { defineSchema, defineTable } from "convex/server"; import { v } from "convex/values"; export default defineSchema({ notes: defineTable({ text: v.string() }).index("by_text", ["text"]) });',
  "convex/notes.ts": FUNCTIONS,
  "convex/crons.ts":
    'import { cronJobs } from "convex/server"; import { api } from "./_generated/api"; const crons = cronJobs(); crons.daily("remind", { hourUTC: 9, minuteUTC: 0 }, api.notes.add as any, { text: "x" }); export default crons;',
};
const ACTION =
  'import { action } from "./_generated/server"; export const run = action({ args: {}, handler: async () => { act(); return null; } });';
const node = (act: string): string => `"use node";\n${FORGE}\nfunction act(): void { ${act} }\nact();\n${ACTION}`;
const plain = (act: string): string => `${FORGE}\nfunction act(): void { ${act} }\nact();\n${ACTION}`;
const escape = (reached: string): string =>
  plain(`for (const reach of [${reached}]) { try { forge((reach as any)()); } catch { /* closed */ } }`);

const ATTACKS: Readonly<Record<string, string>> = {
  "globals of Node": node("forge(globalThis);"),
  "globals of Node, when it is called": `"use node";\n${FORGE}\nfunction act(): void { setTimeout(() => forge(globalThis), 20); }\n${ACTION}`,
  "the server's classes": node(`
    const http = process.getBuiltinModule("http"); const net = process.getBuiltinModule("net");
    const end = http.ServerResponse.prototype.end as any; http.ServerResponse.prototype.end = function (this: any, text: any, ...rest: any[]) { return end.call(this, String(text).replaceAll("string", "number"), ...rest); } as any;
    const write = net.Socket.prototype.write as any; net.Socket.prototype.write = function (this: any, text: any, ...rest: any[]) { return write.call(this, typeof text === "string" ? text.replaceAll("string", "number") : text, ...rest); } as any;`),
  "the debugger of its parent": node(
    'process.kill(process.ppid, "SIGUSR1"); try { const { Session } = process.getBuiltinModule("inspector"); new Session().connectToMainThread(); } catch { /* none */ }',
  ),
  "descriptors that it may have inherited": node(
    'const fs = process.getBuiltinModule("fs"); for (let fd = 3; fd < 64; fd++) { try { if (fs.fstatSync(fd).isSocket()) fs.writeSync(fd, "{\\"kind\\":\\"outcome\\",\\"id\\":1,\\"outcome\\":{\\"value\\":\\"forged\\"}}\\n"); } catch { /* not there */ } }',
  ),
  "the constructor of a class of the host": escape(
    '() => (Blob as any).constructor("return globalThis")(), () => (fetch as any).constructor("return globalThis")(), () => (new TextEncoder().encode("x") as any).constructor.constructor("return globalThis")()',
  ),
  "the constructor of an error of the host": escape(
    '() => { try { new URL("no url"); } catch (error: any) { return error.constructor.constructor("return globalThis")(); } }, () => { try { atob("\\u0100"); } catch (error: any) { return Object.getPrototypeOf(Object.getPrototypeOf(error)).constructor.constructor("return globalThis")(); } }',
  ),
  "prototypes of the host": escape(`() => {
    const Parent = Object.getPrototypeOf(Object.getPrototypeOf(Blob.prototype)).constructor; const list = (performance as any).getEntries?.() ?? [];
    return { Object: Parent, Array: { prototype: Object.getPrototypeOf(list) === Array.prototype ? {} : Object.getPrototypeOf(list) }, JSON: {}, String: { prototype: {} }, Map: { prototype: Object.getPrototypeOf(new URLSearchParams().entries()) } };
  }`),
  "prototypes of its own realm": plain("forge(globalThis);"),
  "another push": plain(
    `void fetch("http://127.0.0.1:PORT/api/deploy2/start_push", { method: "POST", body: JSON.stringify({ adminKey: "${ADMIN_KEY}" }) }).then(async (r) => console.log("push", r.status)).catch(() => {});`,
  ),
};

// What they do to their own process or context may be too much for it.
const MAY_BREAK_ITSELF: ReadonlySet<string> = new Set([
  "globals of Node",
  "descriptors that it may have inherited",
  "prototypes of its own realm",
]);

interface Facts {
  readonly [name: string]: unknown;
}

async function started(t: TestContext): Promise<{ url: string; site: string }> {
  const child = spawn(process.execPath, [...FLAGS, main, "--exit-with-stdin"], {
    stdio: ["pipe", "pipe", "inherit"],
    env: Object.fromEntries(Object.entries(process.env).filter(([name]) => name.startsWith("BACKEND_"))),
  });
  t.after(() => child.kill("SIGKILL"));
  const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  const { port, site_port } = JSON.parse(line) as { port: number; site_port: number };
  return { url: `http://127.0.0.1:${port}`, site: `http://127.0.0.1:${site_port}` };
}

async function pushed(url: string, folder: string, mayBeRefused = false): Promise<Facts | null> {
  const start = await post(`${url}/api/deploy2/start_push`, {
    ...(await buildPushRequest(folder)),
    adminKey: ADMIN_KEY,
  });
  if (mayBeRefused && start.status === 400) return null;
  assert.equal(start.status, 200, JSON.stringify(start.body));
  await post(`${url}/api/deploy2/finish_push`, { adminKey: ADMIN_KEY, startPush: start.body, dryRun: false });
  return start.body["analysis"] as Facts;
}

async function ask(url: string, kind: string, name: string, args: object = {}): Promise<unknown> {
  const { body } = await post(
    `${url}/api/${kind}`,
    { path: name, format: "convex_encoded_json", args },
    { authorization: `Convex ${ADMIN_KEY}` },
  );
  return body["value"] ?? body["errorMessage"];
}

/** What the deployment says of itself, and what it does with a wrong argument. */
async function facts(url: string): Promise<unknown[]> {
  const [spec, schemas, jobs] = (await Promise.all(
    ["_system/cli/modules:apiSpec", "_system/frontend/getSchemas", "_system/frontend/listCronJobs"].map((name) =>
      ask(url, "query", name),
    ),
  )) as [{ identifier?: string }[], unknown, { name: string; cronSpec: unknown }[]];
  return [
    spec.filter(({ identifier }) => identifier?.startsWith("notes")),
    schemas,
    jobs.map(({ name, cronSpec }) => [name, cronSpec]),
  ];
}

test("what is said of an app is what it is", { concurrency: 1 }, async (t) => {
  const { url } = await started(t);
  const honest = (await pushed(url, makeProject(t, BASE)))!;
  const expected = await facts(url);
  for (const [name, source] of Object.entries(ATTACKS)) {
    await t.test(name, async (tt) => {
      const own = await started(tt);
      const port = new URL(own.url).port;
      const analysis = await pushed(
        own.url,
        makeProject(tt, { ...BASE, "convex/aaa.ts": source.replaceAll("PORT", port) }),
        MAY_BREAK_ITSELF.has(name),
      );
      if (analysis === null) return;
      const here = Object.values(analysis)[0] as { functions: Facts; schema: unknown };
      const there = Object.values(honest)[0] as { functions: Facts; schema: unknown };
      assert.deepEqual(
        [here.functions["notes.js"], here.functions["crons.js"], here.schema],
        [there.functions["notes.js"], there.functions["crons.js"], there.schema],
      );
      await ask(own.url, "action", "aaa:run");
      assert.deepEqual(await facts(own.url), expected);
      assert.match(String(await ask(own.url, "mutation", "notes:add", { text: 1 })), /ArgumentValidationError/);
      await ask(own.url, "mutation", "notes:add", { text: "kept" });
      assert.match(
        JSON.stringify(await ask(own.url, "query", "_system/frontend/listTableScan", { table: "notes", limit: 10 })),
        /"text":"kept"/,
      );
    });
  }
});

// Each says "forged" of what is written or read, from whatever it gets hold of.
const DATABASE_FORGERS: Readonly<Record<string, string>> = {
  "the global `Convex`": `
    let real = (globalThis as any).Convex;
    const lie = (text: any) => (typeof text === "string" ? text.replaceAll("kept", "forged") : text);
    const forged = { get syscall() { return (op: string, args: string) => lie(real.syscall(op, args)); }, get asyncSyscall() { return async (op: string, args: string) => lie(await real.asyncSyscall(op, lie(args))); }, get jsSyscall() { return real.jsSyscall; } };
    function forge(): void {
      attempt(() => Object.defineProperty(globalThis, "Convex", { configurable: true, get: () => (real ? forged : undefined), set: (value) => { real = value; } }));
      attempt(() => { (globalThis as any).Convex = forged; });
      attempt(() => { delete (globalThis as any).Convex; (globalThis as any).Convex = forged; });
      attempt(() => Object.defineProperties((globalThis as any).Convex, Object.getOwnPropertyDescriptors(forged)));
    }
    forge();`,
  "classes behind what handlers are given": `
    function forge(ctx: any): void {
      for (const object of [ctx.db, ctx.db.query("notes"), ctx.db.query("notes").order("asc"), ctx.auth])
        for (let place = object; place && place !== Object.prototype; place = Object.getPrototypeOf(place))
          for (const name of ["next", "collect", "take", "order", "fullTableScan", Symbol.asyncIterator]) {
            const own = place[name];
            const lie = (value: any): any => (value?.text ? { ...value, text: "forged" } : Array.isArray(value) ? value.map(lie) : value?.value ? { ...value, value: lie(value.value) } : value);
            if (typeof own === "function" && Object.hasOwn(place, name)) attempt(() => { place[name] = function (this: any, ...args: any[]) { const said = own.apply(this, args); return said instanceof Promise ? said.then(lie) : said; }; });
          }
      ctx.db.query("notes").filter((q: any) => { attempt(() => { q.eq = () => { throw new Error("forged"); }; }); attempt(() => { Object.getPrototypeOf(q.eq(1, 1)).serialize = () => ({ $literal: false }); }); return q.eq(1, 1); });
    }`,
  "what a promise is rejected with, which nobody awaits": `
    function forge(): void {
      const list = [1] as any;
      list.map = (own: any) => { attempt(() => { const { parse } = Object.getPrototypeOf(own); void parse; Object.getPrototypeOf(own).call = () => "forged"; Object.getPrototypeOf(Object.getPrototypeOf(own)).toJSON = () => "forged"; }); return ["forged"]; };
      void Promise.reject({ [Symbol.for("ConvexError")]: true, data: list, get message() { return "forged"; }, name: { toString: () => "forged" } });
    }`,
  "names of globals": `
    const names = ["Array", "Blob", "DOMException", "DataView", "Date", "Error", "Function", "JSON", "Map", "Math", "Object", "Promise", "Reflect", "Set", "String", "Symbol", "TextEncoder", "TypeError", "URL", "Uint8Array", "btoa", "crypto", "isFinite", "isNaN", "parseInt"];
    const { defineProperty } = Object;
    function forge(): void {
      for (const name of names) attempt(() => defineProperty(globalThis, name, { get: () => { throw "forged"; } }));
    }`,
};
const OWN_READS = [
  ["notes:list", {}],
  ["notes:filtered", {}],
] as const;
// What an app does to the convex/server in its own bundle, its own functions see, and nobody else.
const OWN_LIBRARY: ReadonlySet<string> = new Set(["classes behind what handlers are given", "names of globals"]);
// Fails the function itself, and nothing else.
const FAILS: ReadonlySet<string> = new Set(["what a promise is rejected with, which nobody awaits"]);

test("what is read and written is what is there", { concurrency: 1 }, async (t) => {
  for (const [name, source] of Object.entries(DATABASE_FORGERS)) {
    await t.test(name, async (tt) => {
      const { url } = await started(tt);
      const attack = `import { internalMutation, action } from "./_generated/server"; import { anyApi } from "convex/server";
        const attempt = (work: () => void) => { try { work(); } catch { /* closed */ } };
        ${source}
        export const act = internalMutation({ args: {}, handler: async (ctx) => { (forge as (ctx: any) => void)(ctx); return "done"; } });
        export const run = action({ args: {}, handler: async (ctx): Promise<string> => await ctx.runMutation(anyApi.aaa.act as any, {}) });`;
      const filtered = FUNCTIONS.concat(
        '\nexport const filtered = query({ args: {}, handler: async (ctx) => await ctx.db.query("notes").filter((q) => q.eq(q.field("text"), "kept é")).collect() });',
      );
      const schema = BASE["convex/schema.ts"]!.replace(
        "text: v.string()",
        "text: v.string(), size: v.optional(v.int64())",
      );
      await pushed(
        url,
        makeProject(tt, { ...BASE, "convex/schema.ts": schema, "convex/notes.ts": filtered, "convex/aaa.ts": attack }),
      );
      const ran = await ask(url, "action", "aaa:run");
      assert.match(String(ran), OWN_LIBRARY.has(name) || FAILS.has(name) ? /forged/ : /^done$/);
      assert.deepEqual(
        await ask(url, "mutation", "_system/frontend/addDocument", {
          table: "notes",
          documents: [{ text: "kept é", size: { $integer: "AQAAAAAAAAA=" } }],
        }),
        { success: true },
      );
      for (const [read, args] of [
        ...(OWN_LIBRARY.has(name) ? [] : OWN_READS),
        ["_system/frontend/listTableScan", { table: "notes", limit: 10 }],
        ["_system/cli/tableData", { table: "notes", order: "asc", paginationOpts: { cursor: null, numItems: 10 } }],
      ] as const) {
        assert.match(
          JSON.stringify(await ask(url, "query", read, args)),
          /"size":\{"\$integer":"AQAAAAAAAAA="\},"text":"kept é"/,
          read,
        );
      }
    });
  }
});

test("no call sees what another has put on the classes and functions that contexts share", async (t) => {
  const { url } = await started(t);
  const shared =
    "[Blob, Blob.prototype, URL, Uint8Array.prototype, crypto, crypto.subtle, performance, fetch, setTimeout, clearTimeout, console, structuredClone, Response, Response.prototype, Request.prototype, AbortSignal, process.env, Convex, Object.getPrototypeOf(crypto.subtle), Object.getPrototypeOf(new TextEncoder().encode(''))] as any[]";
  const source = `import { action } from "./_generated/server"; declare const Convex: object; let left = 0;
export const leave = action({ args: {}, handler: async () => { for (const object of ${shared}) { try { object.left = 1; left++; } catch { /* closed */ } } return left; } });
export const look = action({ args: {}, handler: async () => (${shared}).flatMap((object, at) => "left" in object ? [at] : []) });`;
  await pushed(url, makeProject(t, { "convex/m.ts": source }));
  assert.ok(Number(await ask(url, "action", "m:leave")) > 0);
  assert.deepEqual(await ask(url, "action", "m:look"), []);
});

test("what an HTTP action returns is read as what it is", async (t) => {
  const { url, site } = await started(t);
  const source = `import { httpRouter } from "convex/server"; import { httpAction, query } from "./_generated/server"; import { api } from "./_generated/api";
const http = httpRouter(); const encoder = new TextEncoder();
const forge = (own: any): void => { for (let place = own; place; place = Object.getPrototypeOf(place)) { try { place.call = place.toJSON = () => "forged"; } catch { /* closed */ } } };
http.route({ path: "/own", method: "GET", handler: httpAction(async () => { const response = new Response("real", { status: 201, headers: { "x-real": "yes" } });
  for (const name of ["status", "headers", "body"]) { try { Object.defineProperty(response, name, { get() { return (own: any) => forge(own); } }); } catch { /* closed */ } } return response; }) });
http.route({ path: "/stream", method: "GET", handler: httpAction(async (ctx) => {
  const body = new ReadableStream({ async pull(controller) { controller.enqueue(encoder.encode("real " + (await ctx.runQuery(api.notes.two, {})))); controller.close(); } });
  Object.defineProperty(body, "getReader", { value: () => ({ read: () => ({ then: (own: any) => { forge(own); own({ done: false, value: encoder.encode("forged") }); } }), cancel: () => {}, releaseLock: () => {} }) });
  return new Response(body); }) });
http.route({ path: "/none", method: "GET", handler: httpAction(async () => ({ status: 200, then: (own: any) => { forge(own); own(1); } }) as any) });
export default http;`;
  const two = `import { query } from "./_generated/server"; export const two = query({ args: {}, handler: async () => 2 });`;
  await pushed(url, makeProject(t, { "convex/http.ts": source, "convex/notes.ts": two }));
  const own = await fetch(`${site}/own`);
  assert.deepEqual([own.status, own.headers.get("x-real"), await own.text()], [201, "yes", "real"]);
  assert.equal(await (await fetch(`${site}/stream`)).text(), "real 2");
  assert.equal((await fetch(`${site}/none`)).status, 500);
  assert.equal(await ask(url, "query", "notes:two"), 2);
});

test("a rejection that cannot be looked at ends its action alone", async (t) => {
  const { url } = await started(t);
  const source = `import { action } from "./_generated/server";
const evil = { get message() { throw evil; }, toString() { throw evil; } };
export const leave = action({ args: {}, handler: async () => { void Promise.reject(evil); setTimeout(() => { throw evil; }, 1); await new Promise((r) => setTimeout(r, 50)); return "left"; } });
export const stay = action({ args: {}, handler: async () => "stayed" });`;
  await pushed(url, makeProject(t, { "convex/m.ts": source }));
  for (let n = 0; n < 2; n++) assert.match(String(await ask(url, "action", "m:leave")), /its outcome cannot be read/);
  assert.equal(await ask(url, "action", "m:stay"), "stayed");
});

test("what a function takes is asked once", async (t) => {
  const { url } = await started(t);
  const source = `import { mutation } from "./_generated/server"; import { v } from "convex/values"; let asked = 0;
export const add = Object.assign(mutation({ args: { text: v.any() }, handler: async (ctx, { text }) => String(text) }), { exportArgs: () => asked++ === 0 ? '{"type":"object","value":{"text":{"fieldType":{"type":"string"},"optional":false}}}' : '{"type":"any"}' });`;
  await pushed(url, makeProject(t, { "convex/notes.ts": source }));
  assert.match(String(await ask(url, "mutation", "notes:add", { text: 1 })), /ArgumentValidationError/);
  assert.equal(await ask(url, "mutation", "notes:add", { text: "a" }), "a");
});

test("what was pushed stays, whatever its modules say when they are loaded again", async (t) => {
  const { url } = await started(t);
  const schema =
    'import { defineSchema, defineTable } from "convex/server"; import { v } from "convex/values"; export default defineSchema({ notes: defineTable({ text: process.env.LOOSE ? v.any() : v.string() }) });';
  await pushed(url, makeProject(t, { ...BASE, "convex/schema.ts": schema }));
  const before = await facts(url);
  await post(
    `${url}/api/update_environment_variables`,
    { changes: [{ name: "LOOSE", value: "1" }] },
    { authorization: `Convex ${ADMIN_KEY}` },
  );
  assert.deepEqual(await facts(url), before);
});

test("who has a way of its own to push leaves no other", async (t) => {
  const { createServer } = await import("node:net");
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { fd } = (server as unknown as { _handle: { fd: number } })._handle;
  const child = spawn(process.execPath, [...FLAGS, main, "--exit-with-stdin", "--control-fd", "3"], {
    stdio: ["pipe", "pipe", "inherit", fd],
  });
  t.after(() => child.kill("SIGKILL"));
  const { port: control } = server.address() as { port: number };
  const [line] = (await once(createInterface({ input: child.stdout! }), "line")) as [string];
  server.close();
  const { port } = JSON.parse(line) as { port: number };
  const refused = await post(`http://127.0.0.1:${port}/api/deploy2/start_push`, { adminKey: ADMIN_KEY });
  assert.deepEqual([refused.status, refused.body["code"]], [403, "PushesAreElsewhere"]);
  const folder = makeProject(t, BASE);
  assert.ok(path.isAbsolute(folder));
  const accepted = await post(`http://127.0.0.1:${control}/api/deploy2/start_push`, {
    ...(await buildPushRequest(folder)),
    adminKey: ADMIN_KEY,
  });
  assert.equal(accepted.status, 200);
});
