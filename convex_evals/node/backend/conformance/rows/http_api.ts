/** Functions called by HTTP: formats, arguments, who may call what. */

import { moduleFile, type As, type Expected, type Row, type Step } from "../harness.ts";

const API = "get-convex/convex-backend crates/local_backend/src/public_api.rs";
const EXPORT = "get-convex/convex-backend crates/value/src/export.rs";
const ARGUMENTS = "get-convex/convex-backend crates/local_backend/src/args_structs.rs";

const FILES = moduleFile(
  "m",
  `export const values = query({ args: {}, handler: async () => ({ int: 2n ** 40n, bytes: new Uint8Array([0, 16, 131]).buffer, floats: [NaN, Infinity, -Infinity, 1.5] }) });
export const echo = query({ args: { x: v.any() }, handler: async (_ctx, { x }) => [typeof x, x] });
export const add = mutation({ args: {}, handler: async (ctx) => { await ctx.db.insert("t", {}); return null; } });
export const count = query({ args: {}, handler: async (ctx) => (await ctx.db.query("t").collect()).length });
export const fails = query({ args: {}, handler: async () => { throw new ConvexError({ int: 1n }); } });
export const hidden = internalQuery({ args: {}, handler: async () => "hidden" });`,
);

const api = (where: string, body: object, as: As = "client"): Step => ({ api: `/api/${where}`, body, as });
const success = (value: unknown): Expected => ({ value: { status: "success", value } });

function row(id: string, rule: string, citation: string, steps: readonly Step[], expected: Expected): Row {
  return { id: `http_api/${id}`, rule, citation, files: FILES, steps, expected };
}

const CLEAN = { bytes: "ABCD", floats: ["NaN", "Infinity", "-Infinity", 1.5], int: "1099511627776" };
const ENCODED = {
  bytes: { $bytes: "ABCD" },
  floats: [{ $float: "AAAAAAAA+H8=" }, { $float: "AAAAAAAA8H8=" }, { $float: "AAAAAAAA8P8=" }, 1.5],
  int: { $integer: "AAAAAAABAAA=" },
};
const integer = { $integer: "AQAAAAAAAAA=" };

export const rows: readonly Row[] = [
  row("plain", "Values are plain JSON.", EXPORT, [api("query", { path: "m:values", args: {} })], success(CLEAN)),
  row(
    "json",
    "So they are if that is asked for.",
    EXPORT,
    [api("query", { path: "m:values", args: {}, format: "json" })],
    success(CLEAN),
  ),
  row(
    "encoded",
    "Clients ask for all that values are.",
    EXPORT,
    [api("query", { path: "m:values", args: {}, format: "convex_encoded_json" })],
    success(ENCODED),
  ),
  row(
    "encoded-arguments",
    "Arguments may be encoded in any format.",
    EXPORT,
    [api("query", { path: "m:echo", args: { x: integer }, format: "json" })],
    success(["bigint", "1"]),
  ),
  row("run", "A function may be named by the URL.", API, [api("run/m/values", { args: {} })], success(CLEAN)),
  row("run-nameless", "It has to be named.", API, [api("run/m", { args: {} })], {
    rejects: "Path or function name not provided in path, e.g. /api/run/messages/list",
    code: "MissingIdentifier",
  }),
  row(
    "unknown-format",
    "An unknown format is refused.",
    EXPORT,
    [api("query", { path: "m:values", args: {}, format: "xml" })],
    { rejects: "format param must be one of [`json`]. Got xml", code: "BadFormat" },
  ),
  row(
    "list",
    "Arguments may be a list of one object.",
    API,
    [api("query", { path: "m:echo", args: [{ x: 1 }] })],
    success(["number", 1]),
  ),
  row("no-arguments", "There have to be arguments.", API, [api("query", { path: "m:values" })], {
    rejects: "args",
    code: "BadJsonBody",
  }),
  row("text-arguments", "They are no text.", API, [api("query", { path: "m:values", args: "x" })], {
    rejects: "args",
    code: "BadJsonBody",
  }),
  row(
    "any",
    "An administrator need not say what kind of function it is.",
    ARGUMENTS,
    [api("function", { path: "m:hidden", args: {} }, "admin")],
    success("hidden"),
  ),
  row("any-client", "Others must.", ARGUMENTS, [api("function", { path: "m:values", args: {} })], {
    rejects: "admin key",
    code: "BadAdminKey",
  }),
  row(
    "error-status",
    "A failed function is answered with status 200.",
    API,
    [api("query", { path: "m:count", args: { extra: 1 } })],
    { accepts: true },
  ),
  row(
    "batch",
    "Several queries are answered at once.",
    API,
    [
      api("query_batch", {
        queries: [
          { path: "m:count", args: {} },
          { path: "m:echo", args: { x: "a" } },
        ],
      }),
    ],
    {
      value: {
        results: [
          { status: "success", value: 0 },
          { status: "success", value: ["string", "a"] },
        ],
      },
    },
  ),
  row(
    "batch-mutation",
    "A mutation among them is an error of its own.",
    API,
    [api("query_batch", { queries: [{ path: "m:add", args: {} }] }), { call: "query", path: "m:count" }],
    { value: 0 },
  ),
];
