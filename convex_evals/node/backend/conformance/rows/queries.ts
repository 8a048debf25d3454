/** Order, filters, and how many documents are given. */

import type { Row } from "../harness.ts";
import { queryRow } from "../query_row.ts";

const RANGES = "get-convex/convex-backend crates/common/src/query.rs";
const ORDER = "get-convex/convex-backend crates/value/src/sorting.rs";
const FILTERS = "https://docs.convex.dev/database/reading-data/filters";
const READING = "https://docs.convex.dev/database/reading-data/";
const PAIRS = "[1, 2].flatMap((a) => [1, 2, 3].map((b) => ({ a, b })))";
const pairs = (query: string): string =>
  `return (await ctx.db.query("t")${query}.collect()).map((d: any) => [d.a, d.b]);`;
// undefined < null < bigint < number < boolean < string < bytes < array < object
const MIXED: readonly unknown[] = [
  null,
  -(2n ** 63n),
  0n,
  5n,
  -Infinity,
  -1.5,
  -0,
  0,
  3,
  Infinity,
  NaN,
  false,
  true,
  "",
  "A",
  "a",
  "aa",
  "z",
  "é",
  "￿",
  "😀",
  new Uint8Array([]).buffer,
  new Uint8Array([1]).buffer,
  new Uint8Array([1, 0]).buffer,
  [],
  [null],
  [1n],
  [1n, 2n],
  ["a"],
  {},
  { a: 1 },
  { a: 2 },
  { b: 0 },
];
const shuffled = [...MIXED.keys()].sort((a, b) => ((a * 17) % 31) - ((b * 17) % 31)).map((at) => MIXED[at]);

const order: readonly Row[] = [
  queryRow(
    "mixed-order",
    "Values of all types have one order in an index.",
    ORDER,
    "[{}, ...x.map((value: any) => ({ x: value }))].reverse()",
    'return (await ctx.db.query("t").withIndex("by_x").collect()).slice(1).map((d: any) => d.x);',
    { value: MIXED },
    { x: shuffled },
  ),
  queryRow(
    "undefined-first",
    "Documents without the field come first.",
    ORDER,
    "[{ x: null, n: 1 }, { n: 2 }]",
    'return (await ctx.db.query("t").withIndex("by_x").collect()).map((d: any) => d.n);',
    { value: [2, 1] },
  ),
  queryRow(
    "range-across-types",
    "A range without upper bound goes on into the types that follow.",
    ORDER,
    '[{ x: 1 }, { x: 2 }, { x: true }, { x: "s" }, { x: 5n }, {}]',
    'return (await ctx.db.query("t").withIndex("by_x", (q: any) => q.gt("x", 1)).collect()).map((d: any) => d.x);',
    { value: [2, true, "s"] },
  ),
  queryRow(
    "numbers-and-integers",
    "Numbers and integers are different values.",
    ORDER,
    "[{ x: 1 }, { x: 1n }]",
    'return (await ctx.db.query("t").withIndex("by_x", (q: any) => q.eq("x", 1)).collect()).length;',
    { value: 1 },
  ),
  queryRow(
    "zeros",
    "Zero and negative zero are different values.",
    ORDER,
    "[{ x: 0 }, { x: -0 }]",
    'return (await ctx.db.query("t").withIndex("by_x", (q: any) => q.eq("x", 0)).collect()).length;',
    { value: 1 },
  ),
  queryRow(
    "creation-order",
    "Without an index documents come in the order of their creation.",
    `${READING}#ordering`,
    "[{ n: 3 }, { n: 1 }, { n: 2 }]",
    'return [(await ctx.db.query("t").collect()).map((d: any) => d.n), (await ctx.db.query("t").order("desc").take(2)).map((d: any) => d.n)];',
    {
      value: [
        [3, 1, 2],
        [2, 1],
      ],
    },
  ),
];

const filters: readonly Row[] = [
  queryRow(
    "filter",
    "Filters combine comparisons, arithmetic and boolean operators.",
    FILTERS,
    PAIRS,
    pairs(
      '.filter((q: any) => q.and(q.gt(q.add(q.field("a"), q.field("b")), 3), q.not(q.eq(q.mod(q.field("b"), 2), 0))))',
    ),
    {
      value: [
        [1, 3],
        [2, 3],
      ],
    },
  ),
  queryRow(
    "filter-across-types",
    "Filters compare values of different types as indexes do.",
    RANGES,
    '[{ x: 1 }, { x: "s" }, { x: null }, {}, { x: 10n }]',
    'return (await ctx.db.query("t").filter((q: any) => q.lt(q.field("x"), 5)).collect()).map((d: any) => d.x ?? "missing");',
    { value: [1, "missing", "missing", 10n] },
  ),
  queryRow(
    "filter-string-number",
    "A string is greater than any number.",
    RANGES,
    '[{ x: "10" }, { x: 5 }]',
    'return (await ctx.db.query("t").filter((q: any) => q.gt(q.field("x"), 100)).collect()).map((d: any) => d.x);',
    { value: ["10"] },
  ),
  queryRow(
    "filter-missing",
    "A missing field equals undefined, not null.",
    FILTERS,
    "[{ x: null }, { n: 1 }]",
    'return [(await ctx.db.query("t").filter((q: any) => q.eq(q.field("x"), undefined)).collect()).length, (await ctx.db.query("t").filter((q: any) => q.eq(q.field("x"), null)).collect()).length];',
    { value: [1, 1] },
  ),
  queryRow(
    "filter-objects",
    "Filters compare arrays and objects by value.",
    FILTERS,
    "[{ x: { a: [1] } }, { x: { a: [2] } }]",
    'return (await ctx.db.query("t").filter((q: any) => q.eq(q.field("x"), { a: [1] })).collect()).length;',
    { value: 1 },
  ),
  queryRow(
    "filter-not-boolean",
    "What a filter returns is a boolean.",
    "get-convex/convex-backend crates/common/src/types/maybe_value.rs",
    "[{ x: 1 }]",
    'await ctx.db.query("t").filter((q: any) => q.field("x")).collect();',
    { rejects: "Cannot use value 1.0 (type Float64) as a Boolean" },
  ),
  queryRow(
    "filter-arithmetic-types",
    "Arithmetic is on numbers of one kind.",
    RANGES,
    '[{ x: "s" }]',
    'await ctx.db.query("t").filter((q: any) => q.eq(q.add(q.field("x"), 1), 2)).collect();',
    { rejects: 'Cannot add "s" (type String) and 1.0 (type Float64)' },
  ),
  queryRow(
    "filter-stops",
    "A query reads no further than it has to.",
    "get-convex/convex-backend crates/database/src/query/filter.rs",
    '[{ x: true }, { x: "not a boolean" }]',
    'return (await ctx.db.query("t").filter((q: any) => q.field("x")).first()).x;',
    { value: true },
  ),
];

const ends: readonly Row[] = [
  queryRow(
    "unique",
    "unique() returns the only document, or null.",
    `${READING}#retrieving-results`,
    "[{ x: 1 }]",
    'return [(await ctx.db.query("t").withIndex("by_x", (q: any) => q.eq("x", 1)).unique()).x, await ctx.db.query("t").withIndex("by_x", (q: any) => q.eq("x", 2)).unique()];',
    { value: [1, null] },
  ),
  queryRow(
    "unique-two",
    "unique() refuses more than one document.",
    `${READING}#retrieving-results`,
    "[{ x: 1 }, { x: 1 }]",
    'await ctx.db.query("t").unique();',
    { rejects: /unique\(\) query returned more than one result from table t:\n \[\w+, \w+, \.\.\.\]/ },
  ),
  queryRow(
    "take-negative",
    "take() takes a non-negative integer.",
    "npm convex/src/server/impl/validate.ts",
    "[]",
    'await ctx.db.query("t").take(-1);',
    { rejects: "Arg 1 `n` to `take` must be a non-negative integer" },
  ),
  queryRow(
    "take-zero",
    "take(0) returns nothing.",
    "npm convex/src/server/impl/validate.ts",
    "[{}]",
    'return await ctx.db.query("t").take(0);',
    { value: [] },
  ),
  queryRow(
    "order-twice",
    "A query has one order.",
    "npm convex/src/server/impl/query_impl.ts",
    "[]",
    'await (ctx.db.query("t").order("asc") as any).order("desc").collect();',
    { rejects: "Queries may only specify order at most once" },
  ),
  queryRow(
    "iterate",
    "Queries can be iterated.",
    READING,
    "[{ n: 1 }, { n: 2 }, { n: 3 }]",
    'const seen = []; for await (const d of ctx.db.query("t")) { seen.push(d.n); if (d.n === 2) break; } return seen;',
    { value: [1, 2] },
  ),
];

export const rows: readonly Row[] = [...order, ...filters, ...ends];
