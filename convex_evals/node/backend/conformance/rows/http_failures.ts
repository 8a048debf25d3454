/** HTTP actions that fail: what the client is answered. */

import { moduleFile, type Row } from "../harness.ts";

const REDACTION = "get-convex/convex-backend crates/application/src/redaction.rs";
const ROUTER = "const http = httpRouter();\n";

interface Told {
  readonly code: string;
  readonly data?: unknown;
  readonly trace: string;
}

const MODULE = moduleFile(
  "m",
  `export const refuse = mutation({ args: {}, handler: async () => { throw new ConvexError({ reason: "full", left: 2n }); } });
`,
);

/** A request to a route with the handler. */
function row(id: string, rule: string, handler: string, told: Told): Row {
  const files = {
    ...MODULE,
    ...moduleFile(
      "http",
      `${ROUTER}const handler = httpAction(async (ctx, request): Promise<any> => {\n${handler}\n});\nhttp.route({ path: "/run", method: "POST", handler });\nexport default http;`,
    ),
  };
  const expected = {
    value: { status: 500, body: JSON.stringify(told), header: "application/json" },
  };
  return {
    id: `http_failures/${id}`,
    rule,
    citation: REDACTION,
    files,
    steps: [{ request: "/run", init: { method: "POST", body: "x" }, header: "content-type" }],
    expected,
  };
}

const failing = (text: string, trace = "", data?: unknown): Told => ({
  code: `[Request ID: ...] Server Error: Uncaught ${text}`,
  ...(data === undefined ? {} : { data }),
  trace: `Uncaught ${text}\n${trace}`,
});

const FRAME = "    at ../convex/http.ts:7:7\n";

export const rows: readonly Row[] = [
  row(
    "error",
    "The answer has the error's message in `code`, and where it was thrown in `trace`.",
    'throw new Error("boom");',
    failing("Error: boom", FRAME),
  ),
  row(
    "error-name",
    "Errors are told by their names.",
    'throw new TypeError("no such thing");',
    failing("TypeError: no such thing", FRAME),
  ),
  row("lines", "A message may have lines.", 'throw new Error("one\\ntwo");', failing("Error: one\ntwo", FRAME)),
  row(
    "convex-error",
    "The data of a ConvexError are in `data`,",
    'throw new ConvexError({ reason: "full" });',
    failing('ConvexError: {"reason":"full"}', "", { reason: "full" }),
  ),
  row(
    "convex-error-text",
    "also where they are a text,",
    'throw new ConvexError("plain");',
    failing("ConvexError: plain", "", "plain"),
  ),
  row("convex-error-null", "or null.", "throw new ConvexError(null);", failing("ConvexError: null", "", null)),
  row(
    "convex-error-values",
    "What JSON does not have is in them as in the answers to functions.",
    "throw new ConvexError([7n, NaN]);",
    failing('ConvexError: ["7n",null]', "", [{ $integer: "BwAAAAAAAAA=" }, { $float: "AAAAAAAA+H8=" }]),
  ),
  row(
    "convex-error-called",
    "So it is with the ConvexError of a function that the action calls.",
    "await ctx.runMutation(api.m.refuse, {});",
    failing('ConvexError: {"reason":"full","left":"2n"}', "", { left: { $integer: "AgAAAAAAAAA=" }, reason: "full" }),
  ),
];
