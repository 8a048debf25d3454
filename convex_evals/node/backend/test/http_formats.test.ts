/** What the HTTP API takes and gives. get-convex/convex-backend crates/local_backend/src/public_api.rs */

import assert from "node:assert/strict";
import { test } from "node:test";
import { ADMIN_KEY } from "../versions.ts";
import { deploy, post, type PushAnswer } from "./harness.ts";

const APP = {
  "convex/m.ts": `import { query, mutation, action, internalQuery } from "./_generated/server";
import { v, ConvexError } from "convex/values";
const values = { int: 2n ** 40n, bytes: new Uint8Array([0, 16, 131]).buffer, nan: NaN, infinite: [Infinity, -Infinity], plain: [1.5, "a", true, null], deep: { int: -1n } };
export const q = query({ args: {}, handler: async () => values });
export const mut = mutation({ args: {}, handler: async () => values });
export const act = action({ args: {}, handler: async () => values });
export const fails = query({ args: {}, handler: async () => { throw new ConvexError({ int: 1n }); } });
export const echo = query({ args: { x: v.any() }, handler: async (_ctx, { x }) => [typeof x, x] });
export const add = mutation({ args: {}, handler: async (ctx) => { await ctx.db.insert("t", {}); return 1n; } });
export const count = query({ args: {}, handler: async (ctx) => (await ctx.db.query("t").collect()).length });
export const hidden = internalQuery({ args: {}, handler: async () => "hidden" });`,
};

const CLEAN = {
  bytes: "ABCD",
  deep: { int: "-1" },
  infinite: ["Infinity", "-Infinity"],
  int: "1099511627776",
  nan: "NaN",
  plain: [1.5, "a", true, null],
};
const ENCODED = {
  bytes: { $bytes: "ABCD" },
  deep: { int: { $integer: "//////////8=" } },
  infinite: [{ $float: "AAAAAAAA8H8=" }, { $float: "AAAAAAAA8P8=" }],
  int: { $integer: "AAAAAAABAAA=" },
  nan: { $float: "AAAAAAAA+H8=" },
  plain: [1.5, "a", true, null],
};

const outcome = ({ status, body }: PushAnswer): unknown[] => [status, body["code"] ?? body["value"]];

test("formats", async (t) => {
  const { backend } = await deploy(t, APP);
  const call = (where: string, body: object, headers = {}): Promise<PushAnswer> =>
    post(`${backend.url}/api/${where}`, body, headers);
  const admin = { authorization: `Convex ${ADMIN_KEY}` };

  await t.test("plain JSON is the default", async () => {
    for (const format of [{}, { format: "json" }, { format: "convex_clean_json" }]) {
      for (const [kind, path] of [
        ["query", "m:q"],
        ["mutation", "m:mut"],
        ["action", "m:act"],
      ] as const) {
        assert.deepEqual(outcome(await call(kind, { path, args: {}, ...format })), [200, CLEAN], kind);
      }
      assert.deepEqual(outcome(await call("function", { path: "m:q", args: {}, ...format }, admin)), [200, CLEAN]);
      assert.deepEqual(outcome(await call("run/m/q", { args: {}, ...format })), [200, CLEAN]);
    }
  });

  await t.test("clients ask for the encoded form", async () => {
    for (const format of ["convex_encoded_json", "convex_json"]) {
      assert.deepEqual(outcome(await call("query", { path: "m:q", args: {}, format })), [200, ENCODED]);
      assert.deepEqual(outcome(await call("run/m/act", { args: {}, format })), [200, ENCODED]);
    }
  });

  await t.test("a query by its URL", async () => {
    const get = async (search: string): Promise<unknown> =>
      await (
        await fetch(
          `${backend.url}/api/query?path=m:echo&args=${encodeURIComponent('{"x":{"$integer":"AQAAAAAAAAA="}}')}${search}`,
        )
      ).json();
    assert.deepEqual(await get(""), { status: "success", value: ["bigint", "1"] });
    assert.deepEqual(await get("&format=convex_encoded_json"), {
      status: "success",
      value: ["bigint", { $integer: "AQAAAAAAAAA=" }],
    });
  });

  await t.test("data of errors follows the format", async () => {
    const data = async (format: object): Promise<unknown> =>
      (await call("query", { path: "m:fails", args: {}, ...format })).body["errorData"];
    assert.deepEqual(await data({ format: "json" }), { int: "1" });
    assert.deepEqual(await data({ format: "convex_encoded_json" }), { int: { $integer: "AQAAAAAAAAA=" } });
  });

  await t.test("several queries at once", async () => {
    const { body } = await call("query_batch", {
      queries: [
        { path: "m:q", args: {}, format: "json" },
        { path: "m:fails", args: {} },
      ],
    });
    const [first, second] = body["results"] as Record<string, unknown>[];
    assert.deepEqual([first?.["value"], second?.["status"]], [CLEAN, "error"]);
  });

  await t.test("an unknown format is refused, after the function ran", async () => {
    const { status, body } = await call("mutation", { path: "m:add", args: {}, format: "xml" });
    assert.deepEqual(
      [status, body],
      [400, { code: "BadFormat", message: "format param must be one of [`json`]. Got xml" }],
    );
    assert.deepEqual(outcome(await call("query", { path: "m:count", args: {} })), [200, 1]);
  });

  await t.test("arguments are an object, or a list with one", async () => {
    assert.deepEqual(outcome(await call("query", { path: "m:echo", args: { x: 1 } })), [200, ["number", 1]]);
    assert.deepEqual(outcome(await call("query", { path: "m:echo", args: [{ x: 1 }] })), [200, ["number", 1]]);
    for (const body of [{}, { args: "x" }, { args: 7 }, { args: null }]) {
      assert.deepEqual(outcome(await call("query", { path: "m:echo", ...body })), [400, "BadJsonBody"]);
    }
  });

  await t.test("only an administrator names no kind of function", async () => {
    assert.deepEqual(outcome(await call("function", { path: "m:q", args: {} })), [401, "BadAdminKey"]);
    assert.deepEqual(outcome(await call("function", { path: "m:hidden", args: {} }, admin)), [200, "hidden"]);
  });
});
