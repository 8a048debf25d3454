/** How long queries and mutations may compute. */

import { moduleFile, type Expected, type Files, type Row, type Step } from "../harness.ts";

const TIMEOUT = "get-convex/convex-backend crates/isolate/src/timeout.rs";
const NESTED = "get-convex/convex-backend crates/isolate/src/environment/udf/mod.rs RunUdf";
const TERMINATION = "get-convex/convex-backend crates/isolate/src/termination.rs";

/** Shorter than Convex's second, so that the rows take no longer than they must. */
const LIMIT_MS = 300;
const TIMED_OUT: Expected = { rejects: "Function execution timed out (maximum duration: 0.3s)" };

// No stretch is as long as the limit. What is refused computes many times that, so that it is also where it computes at a
// tenth of the machine; what is accepted takes no longer than a third by any clock.
const APP: Files = {
  ...moduleFile(
    "m",
    `
const spin = (ms: number): void => { const until = performance.now() + ms; while (performance.now() < until); };
const count = (): number => { let sum = 0; for (let i = 0; i < 3e6; i++) sum += i; return sum; };
const readNothing = async (ctx: any): Promise<null> => await ctx.db.query("items").first();
export const awaits = mutation({ args: {}, handler: async (ctx) => { for (let i = 0; i < 100; i++) { await readNothing(ctx); spin(50); } return "done"; } });
export const counts = query({ args: {}, handler: async (ctx) => { for (let i = 0; i < 1000; i++) { await readNothing(ctx); count(); } return "done"; } });
export const together = mutation({ args: {}, handler: async (ctx) => { await Promise.all(Array.from({ length: 100 }, async () => { await readNothing(ctx); spin(50); })); return "done"; } });
export const before = mutation({ args: {}, handler: async (ctx) => { await Promise.all(Array.from({ length: 100 }, async () => { spin(50); await readNothing(ctx); })); return "done"; } });
export const catches = mutation({ args: {}, handler: async (ctx) => { for (let i = 0; i < 100; i++) { try { await ctx.db.insert("items", {}); spin(50); } catch { return "caught"; } } return "done"; } });
export const step = mutation({ args: { ms: v.number() }, handler: async (ctx, { ms }) => { spin(ms); return null; } });
export const calls = mutation({ args: {}, handler: async (ctx): Promise<string> => { for (let i = 0; i < 100; i++) await ctx.runMutation(api.m.step, { ms: 50 }); return "done"; } });
export const catchesCall = mutation({ args: {}, handler: async (ctx): Promise<string> => { for (let i = 0; i < 100; i++) { try { await ctx.runMutation(api.m.step, { ms: 50 }); } catch { return "caught"; } } return "done"; } });
export const returns = mutation({ args: {}, handler: async () => { let sum = 0; for (let i = 0; i < 2e9; i++) sum += i; return "done"; } });
export const little = mutation({ args: {}, handler: async (ctx): Promise<string> => { for (let i = 0; i < 5; i++) { spin(10); await ctx.runMutation(api.m.step, { ms: 10 }); await readNothing(ctx); } return "done"; } });
export const each = action({ args: {}, handler: async (ctx): Promise<string> => { for (let i = 0; i < 5; i++) await ctx.runMutation(api.m.step, { ms: 100 }); return "done"; } });
export const busy = action({ args: {}, handler: async (ctx): Promise<string> => { for (let i = 0; i < 10; i++) { spin(50); await ctx.runQuery(api.m.items, {}); } return "done"; } });
export const items = query({ args: {}, handler: async (ctx) => (await ctx.db.query("items").collect()).length });
`,
  ),
  "convex/schema.ts":
    'import { defineSchema, defineTable } from "convex/server"; export default defineSchema({ items: defineTable({}) });',
};

type Kind = "query" | "mutation" | "action";

function row(
  id: string,
  rule: string,
  citation: string,
  steps: readonly (readonly [Kind, string])[],
  expected: Expected,
): Row {
  return {
    id: `computing-time/${id}`,
    rule,
    citation,
    files: APP,
    options: { limits: { transactionMs: LIMIT_MS } },
    steps: steps.map(([kind, name]): Step => ({ call: kind, path: `m:${name}` })),
    expected,
  };
}

export const rows: readonly Row[] = [
  row("awaits", "What a mutation computes adds up over what it awaits.", TIMEOUT, [["mutation", "awaits"]], TIMED_OUT),
  row("query", "So does what a query computes.", TIMEOUT, [["query", "counts"]], TIMED_OUT),
  row("together", "It adds up where several things are awaited.", TIMEOUT, [["mutation", "together"]], TIMED_OUT),
  row("before", "It adds up before they are.", TIMEOUT, [["mutation", "before"]], TIMED_OUT),
  row("calls", "What a mutation calls computes on its time.", NESTED, [["mutation", "calls"]], TIMED_OUT),
  row("returns", "A function that returns too late fails.", TIMEOUT, [["mutation", "returns"]], TIMED_OUT),
  row("catches", "A function cannot catch it.", TERMINATION, [["mutation", "catches"]], TIMED_OUT),
  row("catches-call", "Nor can it for what it calls.", TERMINATION, [["mutation", "catchesCall"]], TIMED_OUT),
  row("little", "What computes less is through.", TIMEOUT, [["mutation", "little"]], { value: "done" }),
  row("each", "What an action calls has each time of its own.", TIMEOUT, [["action", "each"]], { value: "done" }),
  row("action", "An action has other limits.", TIMEOUT, [["action", "busy"]], { value: "done" }),
  {
    id: "computing-time/rolled-back",
    rule: "What a function wrote is gone with it, and the next one runs.",
    citation: TERMINATION,
    files: {
      ...APP,
      ...moduleFile(
        "n",
        'export const run = action({ args: {}, handler: async (ctx): Promise<any> => { let message = ""; try { await ctx.runMutation(api.m.catches, {}); } catch (error: any) { message = error.message; } return [message.includes("timed out"), await ctx.runQuery(api.m.items, {})]; } });',
      ),
    },
    options: { limits: { transactionMs: LIMIT_MS } },
    steps: [{ call: "action", path: "n:run" }],
    expected: { value: [true, 0] },
  },
];
