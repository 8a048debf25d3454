/** What of a call other calls see: each runs in a context of its own. */

import { moduleFile, type Expected, type Files, type Row, type Step } from "../harness.ts";

const CONTEXTS = "get-convex/convex-backend crates/isolate/src/context_cache.rs";

const APP: Files = {
  ...moduleFile(
    "m",
    `
import { shared } from "./shared";
let count = 0; const kept = new Map<string, number>(); class Held { static count = 0; }
const bumped = (key: string): number => { kept.set(key, (kept.get(key) ?? 0) + 1); return kept.get(key)!; };
const seen = () => [++count, bumped("k"), ++Held.count, ++shared.count, ((globalThis as any).left = ((globalThis as any).left ?? 0) + 1)];
export const q = query({ args: {}, handler: async () => seen() });
export const m = mutation({ args: {}, handler: async () => seen() });
export const a = action({ args: {}, handler: async () => seen() });
export const twice = query({ args: {}, handler: async () => { seen(); return seen(); } });
export const nestedQuery = query({ args: {}, handler: async (ctx): Promise<any> => [seen(), await ctx.runQuery(api.m.q, {}), seen()] });
export const nestedMutation = mutation({ args: {}, handler: async (ctx): Promise<any> => [seen(), await ctx.runMutation(api.m.m, {}), seen()] });
export const nestedAction = action({ args: {}, handler: async (ctx): Promise<any> => [seen(), await ctx.runAction(api.m.a, {}), seen()] });
export const sideBySide = action({ args: {}, handler: async (ctx): Promise<any> => await Promise.all([ctx.runQuery(api.m.q, {}), ctx.runQuery(api.m.q, {}), ctx.runMutation(api.m.m, {})]) });
export const spoils = mutation({ args: {}, handler: async () => {
  Array.prototype.map = () => ["spoiled"]; JSON.stringify = (() => { const real = JSON.stringify; return (value: any) => real(value); })();
  (Promise.prototype as any).extra = 1; (globalThis as any).Map = class {}; Object.freeze(Math); return null; } });
export const intact = query({ args: {}, handler: async () => [[1].map((n) => n + 1), "extra" in Promise.prototype, new Map([[1, 2]]).get(1), Object.isFrozen(Math)] });
export const add = internalMutation({ args: { text: v.string() }, handler: async (ctx, { text }) => { await ctx.db.insert("items", { key: text }); } });
export const items = query({ args: {}, handler: async (ctx) => (await ctx.db.query("items").collect()).length });
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
export const afterTimeout = action({ args: {}, handler: async (ctx) => { setTimeout(() => void ctx.runMutation(internal.m.add, { text: "late" }), 20); return null; } });
export const afterInterval = action({ args: {}, handler: async (ctx) => { setInterval(() => void ctx.runMutation(internal.m.add, { text: "late" }), 20); return null; } });
export const afterPause = action({ args: {}, handler: async (ctx) => { void (async () => { await pause(20); await ctx.runMutation(internal.m.add, { text: "late" }); })(); return null; } });
export const clears = action({ args: {}, handler: async () => { let ran = 0; const id = setInterval(() => { ran += 1; }, 1); clearTimeout(id); clearTimeout({} as any); clearInterval(undefined); await pause(20); return [ran, typeof id]; } });
export const storeBlob = action({ args: {}, handler: async (ctx) => { const id = await ctx.storage.store(new Blob(["kept"])); ((await ctx.storage.get(id)) as any).text = async () => "forged"; return await ((await ctx.storage.get(id)))!.text(); } });
`,
  ),
  "convex/shared.ts": "export const shared = { count: 0 };",
  ...moduleFile(
    "http",
    `let count = 0; const http = httpRouter(); http.route({ path: "/count", method: "GET", handler: httpAction(async () => Response.json([++count, ((globalThis as any).left = ((globalThis as any).left ?? 0) + 1)])) }); export default http;`,
  ),
};

function row(id: string, rule: string, steps: readonly Step[], expected: Expected, citation = CONTEXTS): Row {
  return { id: `contexts/${id}`, rule, citation, files: APP, steps, expected };
}

const ACTIONS = "get-convex/convex-backend crates/isolate/src/environment/action/mod.rs run_inner";

const nothingLater = (id: string, what: string, name: string): Row =>
  row(
    id,
    `${what} ends with its action.`,
    [call("action", name), { waitMs: 100 }, call("query", "items")],
    { value: 0 },
    ACTIONS,
  );

const call = (kind: "query" | "mutation" | "action", name: string): Step => ({ call: kind, path: `m:${name}` });
const FRESH = [1, 1, 1, 1, 1];
const SECOND = [2, 2, 2, 2, 2];

export const rows: readonly Row[] = [
  row(
    "query",
    "A query sees nothing that an earlier one left in variables.",
    [call("query", "q"), call("query", "q")],
    {
      value: FRESH,
    },
  ),
  row("mutation", "Nor does a mutation.", [call("mutation", "m"), call("mutation", "m")], { value: FRESH }),
  row("action", "Nor does an action.", [call("action", "a"), call("action", "a")], { value: FRESH }),
  row(
    "across",
    "Nor one kind of function of another.",
    [call("mutation", "m"), call("action", "a"), call("query", "q")],
    {
      value: FRESH,
    },
  ),
  row("within", "Variables last as long as a call.", [call("query", "twice")], { value: SECOND }),
  row("nested-query", "A query that a query calls has variables of its own.", [call("query", "nestedQuery")], {
    value: [FRESH, FRESH, SECOND],
  }),
  row("nested-mutation", "So has a mutation that a mutation calls.", [call("mutation", "nestedMutation")], {
    value: [FRESH, FRESH, SECOND],
  }),
  row("nested-action", "So has an action that an action calls.", [call("action", "nestedAction")], {
    value: [FRESH, FRESH, SECOND],
  }),
  row("side-by-side", "Calls at the same time share nothing.", [call("action", "sideBySide")], {
    value: [FRESH, FRESH, FRESH],
  }),
  row("http", "HTTP actions start afresh, too.", [{ request: "/count" }, { request: "/count" }], {
    value: { status: 200, body: "[1,1]" },
  }),
  row(
    "prototypes",
    "What a call changes of JavaScript's own objects, it changes for itself.",
    [call("mutation", "spoils"), call("query", "intact")],
    { value: [[2], false, 2, false] },
  ),
  row(
    "stored-blobs",
    "A stored file is what was stored, whatever is done to an object of it.",
    [call("action", "storeBlob")],
    {
      value: "kept",
    },
  ),
  nothingLater("timeout-ends", "A timer", "afterTimeout"),
  nothingLater("interval-ends", "An interval", "afterInterval"),
  nothingLater("unawaited-ends", "Work that is not awaited", "afterPause"),
  row(
    "timers-of-others",
    "A timer is a number; nothing else ends one.",
    [call("action", "clears")],
    { value: [0, "number"] },
    "get-convex/convex-backend npm-packages/udf-runtime/src/02_timers.ts",
  ),
];
