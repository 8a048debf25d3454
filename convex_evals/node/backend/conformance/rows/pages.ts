/** Pages and their cursors. */

import { moduleFile, type Expected, type Row } from "../harness.ts";
import { queryRow, SCHEMA } from "../query_row.ts";

const PAGES = "get-convex/convex-backend crates/isolate/src/environment/udf/async_syscall.rs";
const CURSORS = "get-convex/convex-backend crates/database/src/query/mod.rs";
const OTHER_QUERY =
  "InvalidCursor: Tried to run a query starting from a cursor, but it looks like this cursor is from a different query.";

/** Reads two documents as one page, and with its cursor another one, as `options` say. */
function turningRow(id: string, rule: string, options: string, expected: Expected, then = ""): Row {
  const files = {
    ...SCHEMA,
    ...moduleFile(
      "m",
      `export const seed = mutation({ args: {}, handler: async (ctx: any) => { for (const a of [1, 2]) await ctx.db.insert("t", { a }); } });
export const page = query({ args: { opts: v.any(), order: v.optional(v.any()), above: v.optional(v.number()) }, handler: async (ctx: any, { opts, order, above }: any) => {
  const query = ctx.db.query("t").order(order ?? "asc"); const { page, isDone, continueCursor } = await (above === undefined ? query : query.filter((q: any) => q.gt(q.field("a"), above))).paginate(opts); return { length: page.length, isDone, continueCursor }; } });
export const run = action({ args: {}, handler: async (ctx: any): Promise<any> => {
  const turned = async (opts: any, order?: string, above?: number) => await ctx.runQuery("m:page" as any, { opts, order, above });
  const { continueCursor: cursor } = await turned({ numItems: 2, cursor: null });
  const next: any = await turned(${options})${then}; return "length" in next ? [next.length, next.isDone] : next; } });`,
    ),
  };
  const steps = [
    { call: "mutation", path: "m:seed" },
    { call: "action", path: "m:run" },
  ] as const;
  return { id: `queries/${id}`, rule, citation: CURSORS, files, steps, expected };
}

/** Seven documents, and a query or mutation that reads pages of them, by functions that it calls and itself. */
function nestedRow(id: string, rule: string, body: string, expected: Expected, kind = "query"): Row {
  const files = {
    ...SCHEMA,
    ...moduleFile(
      "m",
      `export const seed = mutation({ args: {}, handler: async (ctx: any) => { for (let a = 0; a < 7; a++) await ctx.db.insert("t", { a }); } });
const numbers = ({ page }: any): any => page.map(({ a }: any) => a);
export const page = query({ args: { opts: v.any(), order: v.optional(v.any()) }, handler: async (ctx: any, { opts, order }: any): Promise<any> => await ctx.db.query("t").order(order ?? "asc").paginate(opts) });
export const deeper = query({ args: { opts: v.any() }, handler: async (ctx: any, { opts }: any): Promise<any> => await ctx.runQuery(api.m.page, { opts }) });
export const run = ${kind}({ args: {}, handler: async (ctx: any): Promise<any> => {
  const called = async (numItems: number, cursor: any = null, order?: string) => await ctx.runQuery(api.m.page, { opts: { numItems, cursor }, order });
  const own = async (numItems: number, cursor: any = null) => await ctx.db.query("t").paginate({ numItems, cursor });
  ${body} } });`,
    ),
  };
  const steps = [{ call: "mutation", path: "m:seed" } as const, { call: kind as "query", path: "m:run" }] as const;
  return { id: `queries/pages-${id}`, rule, citation: PAGES, files, steps, expected };
}

const nested: readonly Row[] = [
  nestedRow(
    "nested",
    "Queries that a query calls page on their own, each from its own beginning to its own end.",
    'return [numbers(await called(2)), numbers(await called(3)), numbers(await called(1)), numbers(await called(2, null, "desc"))];',
    { value: [[0, 1], [0, 1, 2], [0], [6, 5]] },
  ),
  nestedRow(
    "nested-turned",
    "Their cursors lead on.",
    "const found: number[] = []; for (let next: any = await called(3); ; next = await called(3, next.continueCursor)) { found.push(...numbers(next)); if (next.isDone) return found; }",
    { value: [0, 1, 2, 3, 4, 5, 6] },
  ),
  nestedRow(
    "nested-before",
    "They have no part in the page of the query that calls them, which may be read after theirs,",
    "return [numbers(await called(2)), numbers(await own(4))];",
    {
      value: [
        [0, 1],
        [0, 1, 2, 3],
      ],
    },
  ),
  nestedRow(
    "nested-after",
    "or before.",
    "return [numbers(await own(4)), numbers(await called(2)), numbers(await called(5))];",
    {
      value: [
        [0, 1, 2, 3],
        [0, 1],
        [0, 1, 2, 3, 4],
      ],
    },
  ),
  nestedRow(
    "nested-side-by-side",
    "So it is where they are called at once.",
    "return (await Promise.all([called(1), called(2), called(3)])).map(numbers);",
    { value: [[0], [0, 1], [0, 1, 2]] },
  ),
  nestedRow(
    "nested-deeper",
    "So it is at any depth.",
    "const deeper = async (numItems: number) => numbers(await ctx.runQuery(api.m.deeper, { opts: { numItems, cursor: null } })); return [await deeper(1), await deeper(3), numbers(await own(2))];",
    {
      value: [[0], [0, 1, 2], [0, 1]],
    },
  ),
  nestedRow(
    "nested-mutation",
    "So it is in mutations.",
    "return [numbers(await called(2)), numbers(await own(4)), numbers(await called(3))];",
    {
      value: [
        [0, 1],
        [0, 1, 2, 3],
        [0, 1, 2],
      ],
    },
    "mutation",
  ),
];

export const rows: readonly Row[] = [
  ...nested,
  queryRow(
    "pages",
    "Pages follow each other until the end, filters included.",
    "https://docs.convex.dev/database/pagination",
    "[1, 2, 3, 4, 5].map((n) => ({ n }))",
    'const page = await ctx.db.query("t").filter((q: any) => q.neq(q.field("n"), 2)).paginate({ numItems: 2, cursor: null }); return [page.page.map((d: any) => d.n), page.isDone];',
    { value: [[1, 3], false] },
  ),
  queryRow(
    "pages-twice",
    "A function paginates once.",
    PAGES,
    "[{ n: 1 }, { n: 2 }]",
    'await ctx.db.query("t").paginate({ numItems: 1, cursor: null }); await ctx.db.query("t").paginate({ numItems: 1, cursor: null });',
    {
      rejects:
        "This query or mutation function ran multiple paginated queries. Convex only supports a single paginated query in each function.",
    },
  ),
  queryRow(
    "pages-zero",
    "A page has at least one document.",
    PAGES,
    "[]",
    'await ctx.db.query("t").paginate({ numItems: 0, cursor: null });',
    { rejects: "Must request at least 1 document while paginating" },
  ),
  queryRow(
    "pages-negative",
    "The size of a page is a positive number.",
    "npm convex/src/server/impl/query_impl.ts",
    "[]",
    'await ctx.db.query("t").paginate({ numItems: -1, cursor: null });',
    { rejects: "`options.numItems` must be a positive number. Received `-1`." },
  ),
  {
    id: "queries/pages-continue",
    rule: "The next page begins where the last one ended, also when documents were inserted meanwhile.",
    citation: "https://docs.convex.dev/database/pagination",
    files: {
      ...SCHEMA,
      ...moduleFile(
        "m",
        'export const add = mutation({ args: { ns: v.array(v.number()) }, handler: async (ctx, { ns }) => { for (const x of ns) await ctx.db.insert("t", { x }); } });\nexport const page = query({ args: { opts: paginationOptsValidator }, handler: async (ctx, { opts }) => { const { page, ...rest } = await ctx.db.query("t").withIndex("by_x").paginate(opts); return { ...rest, xs: page.map((d: any) => d.x) }; } });\nexport const xs = query({ args: { opts: paginationOptsValidator }, handler: async (ctx, { opts }) => (await ctx.db.query("t").withIndex("by_x").paginate(opts)).page.map((d: any) => d.x) });',
      ),
    },
    steps: [
      { call: "mutation", path: "m:add", args: { ns: [1, 2, 4, 5] } },
      { call: "query", path: "m:page", args: { opts: { numItems: 2, cursor: null } } },
      { call: "mutation", path: "m:add", args: { ns: [0, 3] } },
      {
        call: "query",
        path: "m:xs",
        args: (results) => ({
          opts: { numItems: 10, cursor: (results[1] as { continueCursor: string }).continueCursor },
        }),
      },
    ],
    expected: { value: [3, 4, 5] },
  },
  {
    id: "queries/pages-in-action",
    rule: "The queries of one action page on their own: a cursor leads on from where the page before it ended.",
    citation: PAGES,
    files: {
      ...SCHEMA,
      ...moduleFile(
        "m",
        `export const seed = mutation({ args: {}, handler: async (ctx: any) => { for (let a = 0; a < 5; a += 1) await ctx.db.insert("t", { a }); } });
export const page = query({ args: { cursor: v.union(v.string(), v.null()) }, handler: async (ctx: any, { cursor }: any) => await ctx.db.query("t").paginate({ numItems: 2, cursor }) });
export const run = action({ args: {}, handler: async (ctx: any) => {
  const found: number[] = [];
  let cursor: string | null = null;
  for (let pages = 0; pages < 9; pages += 1) {
    const result: any = await ctx.runQuery("m:page" as any, { cursor });
    found.push(...result.page.map(({ a }: any) => a));
    if (result.isDone) return found;
    cursor = result.continueCursor;
  }
  return "no end";
} });`,
      ),
    },
    steps: [
      { call: "mutation", path: "m:seed" },
      { call: "action", path: "m:run" },
    ],
    expected: { value: [0, 1, 2, 3, 4] },
  },
  {
    id: "queries/pages-in-component",
    // The page on authoring components says otherwise, as did the backend; the Workpool, which Convex makes, pages so.
    rule: "A component reads a table of its own page by page.",
    citation: "https://www.npmjs.com/package/@convex-dev/workpool/v/0.4.16 (dist/component/stats.js, generateReport)",
    files: {
      "convex/convex.config.ts":
        'import { defineApp } from "convex/server";\nimport part from "./part/convex.config";\nconst app = defineApp();\napp.use(part);\nexport default app;',
      "convex/part/convex.config.ts":
        'import { defineComponent } from "convex/server";\nexport default defineComponent("part");',
      "convex/part/lib.ts":
        'import { query } from "./_generated/server";\nexport const page = query({ args: {}, handler: async (ctx) => (await ctx.db.query("t" as never).paginate({ numItems: 1, cursor: null })).page });',
      ...moduleFile(
        "m",
        "export const run = query({ args: {}, handler: async (ctx): Promise<unknown> => await ctx.runQuery((components as any).part.lib.page, {}) });",
      ),
    },
    steps: [{ call: "query", path: "m:run" }],
    expected: { value: [] },
  },
  queryRow(
    "pages-full",
    "A page that is exactly full is not the last one: whether anything follows is not looked at.",
    PAGES,
    "[1, 2].map((n) => ({ n }))",
    'const page = await ctx.db.query("t").paginate({ numItems: 2, cursor: null }); return [page.page.length, page.isDone];',
    { value: [2, false] },
  ),
  turningRow("pages-full-next", "The page after it is empty, and the last one.", "{ numItems: 2, cursor }", {
    value: [0, true],
  }),
  turningRow(
    "pages-other-order",
    "A cursor leads on in its own query alone: not in another order,",
    '{ numItems: 2, cursor }, "desc"',
    { rejects: OTHER_QUERY },
  ),
  turningRow("pages-other-filter", "nor with another filter.", "{ numItems: 2, cursor }, undefined, 1", {
    rejects: OTHER_QUERY,
  }),
  turningRow("pages-no-cursor", "A text that is no cursor is refused,", '{ numItems: 2, cursor: "nonsense" }', {
    rejects: "InvalidCursor: Failed to parse cursor",
  }),
  turningRow("pages-empty-cursor", "an empty one included.", '{ numItems: 2, cursor: "" }', {
    rejects: "InvalidCursor: Failed to parse cursor",
  }),
  turningRow(
    "pages-cursor-data",
    "The error for another query's cursor has data, by which clients know it.",
    '{ numItems: 2, cursor }, "desc"',
    { value: { isConvexSystemError: true, paginationError: "InvalidCursor" } },
    ".catch((error: any) => error.data)",
  ),
];
