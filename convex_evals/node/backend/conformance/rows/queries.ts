/** Reading: indexes, order, filters. */

import type { Row } from "../harness.ts";
import { queryRow } from "../query_row.ts";

const RANGES = "get-convex/convex-backend crates/common/src/query.rs";
const INDEXES = "https://docs.convex.dev/database/reading-data/indexes/";
const REGISTRY = "get-convex/convex-backend crates/indexing/src/index_registry.rs";
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

const ranges: readonly Row[] = [
  queryRow(
    "index-range",
    "An index is queried by equalities, then a lower and an upper bound.",
    `${INDEXES}#querying-documents-using-indexes`,
    PAIRS,
    pairs('.withIndex("by_a_b", (q: any) => q.eq("a", 2).gt("b", 1).lte("b", 3))'),
    {
      value: [
        [2, 2],
        [2, 3],
      ],
    },
  ),
  queryRow(
    "index-eq-order",
    "The order in which equalities are written does not matter.",
    RANGES,
    PAIRS,
    pairs('.withIndex("by_a_b", (q: any) => q.eq("b", 3).eq("a", 1))'),
    { value: [[1, 3]] },
  ),
  queryRow(
    "index-all",
    "Without a range an index gives the whole table in its order.",
    INDEXES,
    `${PAIRS}.reverse()`,
    pairs('.withIndex("by_a_b")'),
    {
      value: [
        [1, 1],
        [1, 2],
        [1, 3],
        [2, 1],
        [2, 2],
        [2, 3],
      ],
    },
  ),
  queryRow(
    "index-desc",
    "An index can be read backwards.",
    `${READING}#ordering`,
    PAIRS,
    pairs('.withIndex("by_a_b", (q: any) => q.eq("a", 1)).order("desc")'),
    {
      value: [
        [1, 3],
        [1, 2],
        [1, 1],
      ],
    },
  ),
  queryRow(
    "index-ties",
    "Documents that are equal in an index come in the order of their creation.",
    INDEXES,
    '[3, 1, 2].map((n) => ({ x: "same", n }))',
    'return (await ctx.db.query("t").withIndex("by_x").collect()).map((d: any) => d.n);',
    { value: [3, 1, 2] },
  ),
  queryRow(
    "index-undefined",
    "A missing field is found by undefined.",
    `${FILTERS}`,
    "[{ x: null }, { n: 1 }, { x: 1 }]",
    'return (await ctx.db.query("t").withIndex("by_x", (q: any) => q.eq("x", undefined)).collect()).map((d: any) => d.n);',
    { value: [1] },
  ),
  queryRow(
    "index-nested",
    "An index over a nested field finds documents by it.",
    INDEXES,
    "[{ o: { p: 2 } }, { o: { p: 1 } }, { o: 5 }]",
    'return (await ctx.db.query("t").withIndex("by_deep", (q: any) => q.gte("o.p", 1)).collect()).map((d: any) => d.o.p);',
    { value: [1, 2] },
  ),
  queryRow(
    "index-creation-time",
    "The creation time ends every index and may be in its range.",
    INDEXES,
    "[{ x: 1, n: 1 }, { x: 1, n: 2 }]",
    'const [first] = await ctx.db.query("t").withIndex("by_x", (q: any) => q.eq("x", 1)).collect(); return (await ctx.db.query("t").withIndex("by_x", (q: any) => q.eq("x", 1).gt("_creationTime", first._creationTime)).collect()).map((d: any) => d.n);',
    { value: [2] },
  ),
  queryRow(
    "index-unknown",
    "An index that does not exist cannot be queried.",
    REGISTRY,
    "[]",
    'await ctx.db.query("t").withIndex("nope").collect();',
    { rejects: "Index t.nope not found." },
  ),
  queryRow(
    "index-staged",
    "A staged index cannot be queried.",
    REGISTRY,
    "[]",
    'await ctx.db.query("t").withIndex("later").collect();',
    { rejects: "Index t.later is currently staged and not available to query until it is enabled." },
  ),
  queryRow(
    "index-skip",
    "The fields of an index are used from the first on.",
    RANGES,
    PAIRS,
    pairs('.withIndex("by_a_b", (q: any) => q.eq("b", 1))'),
    {
      rejects:
        "Tried to query index t.by_a_b but the query didn't use the index fields in order.\nIndex fields: [a, b, _creationTime]\nQuery fields: [b]\nFirst incorrect field: b",
    },
  ),
  queryRow(
    "index-other-field",
    "An index range names only fields of the index.",
    RANGES,
    PAIRS,
    pairs('.withIndex("by_a_b", (q: any) => q.eq("z", 1))'),
    {
      rejects:
        'The index range included a comparison with "z", but t.by_a_b with fields [a, b, _creationTime] doesn\'t index this field.',
    },
  ),
  queryRow(
    "index-eq-twice",
    "A field has one equality.",
    RANGES,
    PAIRS,
    pairs('.withIndex("by_a_b", (q: any) => q.eq("a", 1).eq("a", 2))'),
    { rejects: 'Already defined equality bound in index range. Can\'t add "a" == 1.0.' },
  ),
  queryRow(
    "index-lower-twice",
    "A range has one lower bound.",
    RANGES,
    PAIRS,
    pairs('.withIndex("by_a_b", (q: any) => q.gt("a", 1).gte("a", 2))'),
    { rejects: 'Already defined lower bound in index range. Can\'t add "a" >= 2.0.' },
  ),
  queryRow(
    "index-two-ranges",
    "Bounds are on one field.",
    RANGES,
    PAIRS,
    pairs('.withIndex("by_a_b", (q: any) => q.gt("a", 1).lt("b", 2))'),
    { rejects: 'This query against index t.by_a_b attempted to set a range bound on both "a" and "b".' },
  ),
  queryRow(
    "undeclared-table",
    "A table without documents is empty, declared or not.",
    READING,
    "[]",
    'return await ctx.db.query("nothing").collect();',
    { value: [] },
  ),
];

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

export const rows: readonly Row[] = [...ranges, ...order, ...filters, ...ends];
