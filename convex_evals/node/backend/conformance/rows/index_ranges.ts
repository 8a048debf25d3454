/** Ranges of indexes. */

import type { Row } from "../harness.ts";
import { queryRow } from "../query_row.ts";

const RANGES = "get-convex/convex-backend crates/common/src/query.rs";
const INDEXES = "https://docs.convex.dev/database/reading-data/indexes/";
const REGISTRY = "get-convex/convex-backend crates/indexing/src/index_registry.rs";
const FILTERS = "https://docs.convex.dev/database/reading-data/filters";
const READING = "https://docs.convex.dev/database/reading-data/";
const PAIRS = "[1, 2].flatMap((a) => [1, 2, 3].map((b) => ({ a, b })))";
const pairs = (query: string): string =>
  `return (await ctx.db.query("t")${query}.collect()).map((d: any) => [d.a, d.b]);`;

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

export const rows: readonly Row[] = [...ranges];
