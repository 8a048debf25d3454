import assert from "node:assert/strict";
import { test } from "node:test";
import { api, deploy, errorOf, MESSAGES, MESSAGES_SCHEMA } from "./harness.ts";

const NODE = `"use node";
import { action, internalAction } from "./_generated/server";
import { api, internal } from "./_generated/api";
import { v } from "convex/values";
import crypto, { createHash } from "node:crypto";
import process2 from "node:process";
import { shared } from "./shared";
export const hash = action({ args: { text: v.string() }, returns: v.string(), handler: async (_ctx, { text }) => createHash("sha256").update(text).digest("hex") + (crypto.createHash === createHash) });
export const dynamic = action({ args: {}, handler: async () => { const fs = await import("node:fs"); return typeof fs.readFileSync + typeof fs.default.readFileSync; } });
export const environment = action({ args: {}, handler: async () => [Object.keys(process.env).sort(), Object.keys(process2.env).sort(), typeof Buffer, process.version.startsWith("v")] });
export const afterTimer = action({ args: {}, handler: async () => { await new Promise((r) => setTimeout(r, 5)); return Object.keys(process.env).length; } });
export const writes = action({ args: {}, handler: async (ctx): Promise<number> => {
  await ctx.runMutation(api.messages.send, { author: shared(), body: Buffer.from("hi").toString("base64") });
  return (await ctx.runQuery(api.messages.list, {})).length + (await ctx.runAction(internal.nodejs.hidden, {}));
} });
export const hidden = internalAction({ args: {}, handler: async () => 10 });
export const fails = action({ args: {}, handler: async () => { throw new TypeError("node says no"); } });
export const logs = action({ args: {}, handler: async () => { console.log("from node"); return null; } });
export const late = action({ args: {}, handler: async (ctx): Promise<null> => { setTimeout(() => void ctx.runMutation(api.messages.send, { author: "late", body: "x" }).catch(() => {}), 50); return null; } });
export const stores = action({ args: {}, handler: async (ctx) => { const id = await ctx.storage.store(new Blob([Buffer.from("abc")], { type: "text/plain" })); return await (await ctx.storage.get(id))!.text(); } });
`;

test('"use node" actions', async (t) => {
  const lines: string[] = [];
  const { http } = await deploy(
    t,
    {
      "convex/schema.ts": MESSAGES_SCHEMA,
      "convex/messages.ts": MESSAGES,
      "convex/nodejs.ts": NODE,
      "convex/shared.ts": `export const shared = () => "shared";`,
    },
    { env: { TOKEN: "t" }, onLog: (line) => lines.push(line) },
  );
  const nodejs = api.nodejs!;
  process.env["BACKEND_SECRET"] = "must not be seen";

  await t.test("builtins, static and dynamic", async () => {
    assert.equal(
      await http.action(nodejs.hash, { text: "x" }),
      "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881true",
    );
    assert.equal(await http.action(nodejs.dynamic), "functionfunction");
  });

  await t.test("the environment is the app's", async () => {
    const names = ["CONVEX_CLOUD_URL", "CONVEX_SITE_URL", "TOKEN"];
    assert.deepEqual(await http.action(nodejs.environment), [names, names, "function", true]);
    assert.equal(await http.action(nodejs.afterTimer), names.length);
    assert.equal(process.env["BACKEND_SECRET"], "must not be seen");
  });

  await t.test("work ends with the action", async () => {
    await http.action(nodejs.late);
    await new Promise((resolve) => setTimeout(resolve, 200));
    assert.deepEqual(await http.query(api.messages!.list), []);
  });

  await t.test("calls into the other runtime, and files", async () => {
    assert.equal(await http.action(nodejs.writes), 11);
    assert.equal(await http.action(nodejs.stores), "abc");
  });

  await t.test("errors and console lines", async () => {
    assert.match((await errorOf(() => http.action(nodejs.fails))).message, /Uncaught TypeError: node says no/);
    await http.action(nodejs.logs);
    assert.ok(lines.includes("[LOG] 'from node'"), lines.join());
  });
});

test("a variable that is set reaches modules at their next call, and ends nothing that runs", async (t) => {
  const source = `"use node"; import { action } from "./_generated/server"; const atLoad = process.env.LATE ?? null; let calls = 0;
export const look = action({ args: {}, handler: async () => [atLoad, process.env.LATE ?? null, ++calls] });
export const wait = action({ args: {}, handler: async () => { await new Promise((r) => setTimeout(r, 300)); return [atLoad, process.env.LATE ?? null]; } });`;
  const { http, backend } = await deploy(t, { "convex/n.ts": source });
  assert.deepEqual(await http.action(api.n.look), [null, null, 1]);
  const waiting = http.action(api.n.wait);
  await new Promise((resolve) => setTimeout(resolve, 50));
  backend.app.setEnvironmentVariables(new Map([["LATE", "now"]]));
  assert.deepEqual(await http.action(api.n.look), ["now", "now", 1]);
  assert.deepEqual(await waiting, [null, null]);
});
