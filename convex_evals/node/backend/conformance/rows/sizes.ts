/** How large and how deep arguments and responses may be. */

import type { Value } from "convex/values";
import { moduleFile, type Expected, type Row, type Step } from "../harness.ts";

const LIMITS = "https://docs.convex.dev/production/state/limits#functions";
const HELPERS = "https://github.com/get-convex/convex-backend/blob/main/crates/udf/src/helpers.rs";
const RESPONSES = "https://github.com/get-convex/convex-backend/blob/main/crates/isolate/src/environment/action/mod.rs";

const FILES = {
  ...moduleFile(
    "s",
    `
const args = { text: v.string() };
export const length = query({ args, handler: async (_ctx, { text }) => text.length });
export const echo = query({ args: { x: v.any() }, handler: async (_ctx, { x }) => x });
export const deeper = action({ args: { x: v.any() }, handler: async (ctx, { x }): Promise<any> => await ctx.runQuery(api.s.echo, { x: [x] }) });
export const inner = action({ args: {}, handler: async (ctx): Promise<any> => await ctx.runQuery(api.s.length, { text: "x".repeat(17 << 20) }) });
export const toNode = action({ args: { mib: v.number() }, handler: async (ctx, { mib }): Promise<any> => await ctx.runAction(api.n.length, { text: "x".repeat(mib << 20) }) });
`,
  ),
  "convex/n.ts": `"use node";
import { action } from "./_generated/server";
import { v } from "convex/values";
export const length = action({ args: { text: v.string() }, handler: async (_ctx, { text }) => text.length });
`,
  ...moduleFile(
    "http",
    `const http = httpRouter();
const mib = (count: number): Uint8Array<ArrayBuffer> => new Uint8Array(count << 20);
http.route({ path: "/sizes", method: "GET", handler: httpAction(async (_ctx, request) => {
  const sizes = new URL(request.url).searchParams.get("of")!.split(",").map(Number);
  const body = new ReadableStream({ start(controller) { for (const size of sizes) controller.enqueue(mib(size)); controller.close(); } });
  return new Response(body, { status: 201 });
}) });
export default http;`,
  ),
};

const row = (id: string, rule: string, citation: string, step: Step, expected: Expected): Row => ({
  ...{ id: `sizes/${id}`, rule, citation, files: FILES, steps: [step], expected },
});

/** As many lists in each other as `levels` says. */
const nested = (levels: number): Value => (levels === 0 ? 1 : [nested(levels - 1)]);
const TOO_NESTED = "Invalid arguments for s.js:echo: Value is too nested (nested 65 levels deep > maximum nesting 64)";

export const rows: readonly Row[] = [
  row(
    "levels",
    "Arguments are nested at most 64 levels, the list that they are sent in included.",
    HELPERS,
    { call: "query", path: "s:echo", args: { x: nested(63) } },
    { rejects: TOO_NESTED },
  ),
  row(
    "levels-below",
    "One level less is fine.",
    HELPERS,
    { call: "query", path: "s:echo", args: { x: nested(62) } },
    { value: nested(62) },
  ),
  row(
    "nested-levels",
    "So are those of a function that another one calls.",
    HELPERS,
    { call: "action", path: "s:deeper", args: { x: nested(62) } },
    { rejects: TOO_NESTED },
  ),
  row(
    "levels-of-json",
    "Requests of more levels than serde_json reads are no JSON.",
    "https://docs.rs/serde_json/latest/serde_json/struct.Deserializer.html#method.disable_recursion_limit",
    { call: "query", path: "s:echo", args: { x: nested(125) } },
    { rejects: "Failed to parse the request body as JSON", code: "BadJsonBody" },
  ),
  row(
    "arguments",
    "The arguments of a function are at most 16 MiB.",
    HELPERS,
    { call: "query", path: "s:length", args: { text: "x".repeat(17 << 20) } },
    { rejects: "Arguments for s.js:length are too large (actual: 17.00 MiB, limit: 16 MiB)" },
  ),
  row(
    "arguments-below",
    "Almost as much is fine.",
    HELPERS,
    { call: "query", path: "s:length", args: { text: "x".repeat(15 << 20) } },
    { value: 15 << 20 },
  ),
  row(
    "nested-arguments",
    "So are those of a function that another one calls.",
    HELPERS,
    { call: "action", path: "s:inner" },
    { rejects: "Arguments for s.js:length are too large (actual: 17.00 MiB, limit: 16 MiB)" },
  ),
  row(
    "node-arguments",
    "Those of an action for Node.js are at most 5 MiB.",
    LIMITS,
    { call: "action", path: "s:toNode", args: { mib: 6 } },
    { rejects: "Node actions arguments size is too large" },
  ),
  row(
    "node-arguments-below",
    "Four are fine.",
    LIMITS,
    { call: "action", path: "s:toNode", args: { mib: 4 } },
    { value: 4 << 20 },
  ),
  row(
    "response",
    "An HTTP action answers with 20 MiB.",
    RESPONSES,
    { request: "/sizes?of=8,8,4" },
    { value: { status: 201, body: "\0".repeat(20 << 20) } },
  ),
  row(
    "response-too-large",
    "Chunks beyond that are left out; the status stays.",
    RESPONSES,
    { request: "/sizes?of=8,8,5,1" },
    { value: { status: 201, body: "\0".repeat(17 << 20) } },
  ),
];
