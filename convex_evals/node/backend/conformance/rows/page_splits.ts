/** Where pages end early or should be split, and what may be asked of them. */

import { moduleFile, type Expected, type Row } from "../harness.ts";
import { queryRow, SCHEMA } from "../query_row.ts";

const PAGES = "get-convex/convex-backend crates/isolate/src/environment/udf/async_syscall.rs";
const RANGES = "get-convex/convex-backend crates/database/src/query/index_range.rs";
const READS = "get-convex/convex-backend crates/database/src/reads.rs";

/** An action with `page`, which reads a page of `count` numbered documents, each of about `bytes`. */
function splitRow(
  id: string,
  rule: string,
  citation: string,
  [count, bytes]: readonly [number, number],
  body: string,
  expected: Expected,
): Row {
  const files = {
    ...SCHEMA,
    ...moduleFile(
      "m",
      `export const seed = mutation({ args: { from: v.number(), to: v.number() }, handler: async (ctx: any, { from, to }) => { for (let n = from; n < to; n++) await ctx.db.insert("t", { n, text: "fox", pad: "x".repeat(${bytes}) }); } });
export const page = query({ args: { opts: v.any(), how: v.optional(v.any()) }, handler: async (ctx: any, { opts, how }: any): Promise<any> => {
  const query = how === "search" ? ctx.db.query("t").withSearchIndex("words", (q: any) => q.search("text", "fox")) : ctx.db.query("t");
  const { page, ...rest } = await (how === "even" ? query.filter((q: any) => q.eq(q.mod(q.field("n"), 2), 0)) : query).paginate(opts);
  return { ...rest, numbers: page.length > 100 ? page.length : page.map(({ n }: any) => n) }; } });
export const run = action({ args: {}, handler: async (ctx: any): Promise<any> => {
  for (let from = 0; from < ${count}; from += ${bytes > 1000 ? 9 : 4000}) await ctx.runMutation(api.m.seed, { from, to: Math.min(${count}, from + ${bytes > 1000 ? 9 : 4000}) });
  const page = async (opts: any, how?: string) => await ctx.runQuery(api.m.page, { opts: { cursor: null, ...opts }, how });
  const told = ({ numbers, isDone, pageStatus }: any) => [numbers, isDone, pageStatus];
  const split = async (opts: any, how?: string) => { const { splitCursor, continueCursor } = await page(opts, how); if (splitCursor === null) return null;
    const first = await page({ ...opts, endCursor: splitCursor }, how); const second = await page({ ...opts, cursor: splitCursor, endCursor: continueCursor }, how); return [first.numbers, second.numbers]; };
  ${body} } });`,
    ),
  };
  return { id: `queries/pages-${id}`, rule, citation, files, steps: [{ call: "action", path: "m:run" }], expected };
}

const SMALL = [6, 0] as const;
const MEGABYTE = 1_000_000;

const splits: readonly Row[] = [
  splitRow(
    "split-cursor",
    "A page that read more than two documents has a cursor in its middle, which splits it in two.",
    RANGES,
    SMALL,
    "return [await split({ numItems: 5 }), await split({ numItems: 4 }), await split({ numItems: 3 })];",
    {
      value: [
        [
          [0, 1, 2],
          [3, 4],
        ],
        [[0, 1, 2], [3]],
        [[0, 1], [2]],
      ],
    },
  ),
  splitRow("split-cursor-few", "One that read fewer has none.", RANGES, SMALL, "return await split({ numItems: 2 });", {
    value: null,
  }),
  splitRow(
    "split-cursor-filtered",
    "Documents that a filter leaves out were read, too.",
    RANGES,
    SMALL,
    'return await split({ numItems: 3 }, "even");',
    { value: [[0, 2], [4]] },
  ),
  splitRow(
    "split-cursor-search",
    "Pages of a text search have none.",
    "get-convex/convex-backend crates/database/src/query/search_query.rs",
    SMALL,
    'const { splitCursor, pageStatus } = await page({ numItems: 5 }, "search"); return [splitCursor, pageStatus];',
    { value: [null, null] },
  ),
  splitRow(
    "rows-read",
    "A page ends where another document would exceed `maximumRowsRead`, and is to be split.",
    RANGES,
    SMALL,
    "return [told(await page({ numItems: 5, maximumRowsRead: 3 })), await split({ numItems: 5, maximumRowsRead: 3 })];",
    {
      value: [
        [[0, 1, 2], false, "SplitRequired"],
        [[0, 1], [2]],
      ],
    },
  ),
  splitRow(
    "rows-read-filtered",
    "Documents that a filter leaves out count.",
    RANGES,
    SMALL,
    'return told(await page({ numItems: 5, maximumRowsRead: 4 }, "even"));',
    { value: [[0, 2], false, "SplitRequired"] },
  ),
  splitRow(
    "rows-read-full",
    "One that is full need not be split, but should be if it read more than three quarters.",
    RANGES,
    SMALL,
    "return [told(await page({ numItems: 3, maximumRowsRead: 3 })), told(await page({ numItems: 3, maximumRowsRead: 4 }))];",
    {
      value: [
        [[0, 1, 2], false, "SplitRecommended"],
        [[0, 1, 2], false, null],
      ],
    },
  ),
  splitRow(
    "rows-read-ahead",
    "With a filter, documents are read a hundred ahead, and count.",
    "get-convex/convex-backend crates/database/src/query/filter.rs",
    SMALL,
    'return [told(await page({ numItems: 1, maximumRowsRead: 4 }, "even")), told(await page({ numItems: 1, maximumRowsRead: 8 }, "even"))];',
    {
      value: [
        [[0], false, "SplitRecommended"],
        [[0], false, null],
      ],
    },
  ),
  splitRow(
    "bytes-read",
    "A page ends after the document with which it reaches `maximumBytesRead`.",
    RANGES,
    [4, 1000],
    "return [told(await page({ numItems: 4, maximumBytesRead: 1500 })), told(await page({ numItems: 2, maximumBytesRead: 1500 })), told(await page({ numItems: 1, maximumBytesRead: 1500 }))];",
    {
      value: [
        [[0, 1], false, "SplitRequired"],
        [[0, 1], false, "SplitRecommended"],
        [[0], false, null],
      ],
    },
  ),
  splitRow(
    "end-cursor-rows",
    "A page with an end cursor is read up to there, whatever may be read: the next one begins there.",
    RANGES,
    SMALL,
    "const { continueCursor: endCursor } = await page({ numItems: 5 }); const ended = await page({ numItems: 1, endCursor, maximumRowsRead: 2 }); return [told(ended), ended.continueCursor === endCursor];",
    { value: [[[0, 1, 2, 3, 4], false, "SplitRecommended"], true] },
  ),
  splitRow(
    "end-cursor-bytes",
    "So it is with bytes,",
    RANGES,
    [4, 1000],
    "const { continueCursor: endCursor } = await page({ numItems: 3 }); return told(await page({ numItems: 1, endCursor, maximumBytesRead: 10 }));",
    { value: [[0, 1, 2], false, "SplitRecommended"] },
  ),
  splitRow(
    "end-cursor-end",
    "and with the end of the query as the end of the page.",
    RANGES,
    SMALL,
    "const { continueCursor: endCursor } = await page({ numItems: 9 }); return told(await page({ numItems: 1, endCursor, maximumRowsRead: 100 }));",
    { value: [[0, 1, 2, 3, 4, 5], true, null] },
  ),
  splitRow(
    "length",
    "A page of more than 6,144 documents should be split: an array has up to 8,192.",
    PAGES,
    [6145, 0],
    "return [told(await page({ numItems: 6145 })), told(await page({ numItems: 6144 }))];",
    {
      value: [
        [6145, false, "SplitRecommended"],
        [6144, false, null],
      ],
    },
  ),
  splitRow(
    "bytes",
    "So should one of more than 12 MiB: a function reads up to 16.",
    RANGES,
    [13, MEGABYTE],
    "const long = ({ numbers, ...rest }: any) => told({ ...rest, numbers: numbers.length }); return [long(await page({ numItems: 13 })), long(await page({ numItems: 12 }))];",
    {
      value: [
        [13, false, "SplitRecommended"],
        [12, false, null],
      ],
    },
  ),
  splitRow(
    "read-limit",
    "Where the function may read no more, the page ends.",
    READS,
    [18, MEGABYTE],
    "const first = await page({ numItems: 18 }); const { numbers, isDone, pageStatus } = await page({ numItems: 18, cursor: first.continueCursor }); return [first.numbers.length, first.isDone, first.pageStatus, numbers, isDone, pageStatus];",
    { value: [16, false, "SplitRequired", [16, 17], true, null] },
  ),
];

const asked = (id: string, rule: string, options: string, expected: Expected, citation = PAGES): Row =>
  queryRow(
    `pages-${id}`,
    rule,
    citation,
    "[1, 2].map((n) => ({ n }))",
    `const { page, isDone } = await ctx.db.query("t").paginate({ cursor: null, ...${options} }); return [page.length, isDone];`,
    expected,
  );

const options: readonly Row[] = [
  asked("most", "32,000 documents may be asked for: as many as a function reads.", "{ numItems: 32000 }", {
    value: [2, true],
  }),
  asked("too-many", "More may not.", "{ numItems: 32001 }", { rejects: "Requested too many items: 32001" }),
  asked("fraction", "The size of a page is a whole number.", "{ numItems: 1.5 }", {
    rejects: "Invalid arguments for `queryPage`: invalid type: floating point `1.5`, expected usize",
  }),
  asked("infinite", "Infinity is none: in JSON it is null.", "{ numItems: Infinity }", {
    rejects: "Invalid arguments for `queryPage`: invalid type: null, expected usize",
  }),
  asked(
    "text-size",
    "It is a number.",
    '{ numItems: "2" }',
    { rejects: "`options.numItems` must be a positive number. Received `2`." },
    "npm convex/src/server/impl/query_impl.ts",
  ),
  asked("number-cursor", "Cursors are strings.", "{ numItems: 2, cursor: 7 }", {
    rejects: "Invalid arguments for `queryPage`: invalid type: integer `7`, expected a string",
  }),
  asked("negative-rows", "What may be read is not negative,", "{ numItems: 2, maximumRowsRead: -1 }", {
    rejects: "Invalid arguments for `queryPage`: invalid value: integer `-1`, expected usize",
  }),
  asked("zero-rows", "and more than nothing.", "{ numItems: 2, maximumBytesRead: 0 }", {
    rejects: "maximumRowsRead and maximumBytesRead must be greater than 0",
  }),
  queryRow(
    "pages-after-failure",
    "A page that could not be read is not the only one that a function reads.",
    PAGES,
    "[1, 2].map((n) => ({ n }))",
    'await ctx.db.query("t").paginate({ numItems: 0, cursor: null }).catch(() => {}); return (await ctx.db.query("t").paginate({ numItems: 2, cursor: null })).page.length;',
    { value: 2 },
  ),
];

export const rows: readonly Row[] = [...splits, ...options];
