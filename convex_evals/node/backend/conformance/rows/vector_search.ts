/** Vector search. */

import type { Expected, Row } from "../harness.ts";
import { rowOf } from "../search_row.ts";

const VECTOR = "get-convex/convex-backend crates/vector/src/qdrant_index.rs";
const VECTOR_DOCS = "https://docs.convex.dev/search/vector-search";
const REGISTRY = "get-convex/convex-backend crates/indexing/src/index_registry.rs";
const VECTORS =
  '[{ n: 1, tag: "a", vec: [1, 0] }, { n: 2, tag: "b", vec: [0.6, 0.8] }, { n: 3, tag: "a", vec: [0, 2] }, { n: 4, vec: [1] }, { n: 5 }, { n: 6, tag: "c", vec: [-1, 0] }]';
const near = (options: string): string =>
  `return await ctx.runQuery(internal.m.load, { ids: (await ctx.vectorSearch("t", "near", { ${options} })).map((r: any) => r._id) });`;
const vector = (
  id: string,
  rule: string,
  citation: string,
  body: string,
  expected: Expected,
  documents = VECTORS,
): Row => rowOf("action", `vector-${id}`, rule, citation, documents, body, expected);

const vectorRows: readonly Row[] = [
  vector(
    "nearest",
    "Vectors come by cosine similarity; documents without a fitting vector are left out.",
    `${VECTOR_DOCS}#running-vector-searches`,
    near("vector: [1, 0]"),
    { value: [1, 2, 3, 6] },
  ),
  vector(
    "scores",
    "Scores are cosines.",
    `${VECTOR_DOCS}#running-vector-searches`,
    'return (await ctx.vectorSearch("t", "near", { vector: [3, 0], limit: 2 })).map((r: any) => Math.round(r._score * 100) / 100);',
    { value: [1, 0.6] },
  ),
  vector(
    "default-limit",
    "Without a limit there are 10 results.",
    `${VECTOR_DOCS}#running-vector-searches`,
    'return (await ctx.vectorSearch("t", "near", { vector: [1, 0] })).length;',
    { value: 10 },
    "Array.from({ length: 12 }, (_, n) => ({ n, vec: [1, n] }))",
  ),
  vector(
    "filter",
    "Results can be filtered by one value.",
    `${VECTOR_DOCS}#filter-expressions`,
    near('vector: [1, 0], filter: (q: any) => q.eq("tag", "a")'),
    { value: [1, 3] },
  ),
  vector(
    "filter-or",
    "Results can be filtered by alternatives.",
    `${VECTOR_DOCS}#filter-expressions`,
    near('vector: [1, 0], filter: (q: any) => q.or(q.eq("tag", "b"), q.eq("tag", "c"))'),
    { value: [2, 6] },
  ),
  vector(
    "dimensions",
    "The vector has the dimensions of the index.",
    "get-convex/convex-backend crates/vector/src/lib.rs",
    near("vector: [1, 0, 0]"),
    { rejects: "Expected a vector with dimensions 2, received 3." },
  ),
  vector("limit", "There are at most 256 results.", VECTOR, near("vector: [1, 0], limit: 257"), { rejects: /256/ }),
  vector(
    "filter-field",
    "Only filter fields are filtered.",
    "get-convex/convex-backend crates/vector/src/lib.rs",
    near('vector: [1, 0], filter: (q: any) => q.eq("n", 1)'),
    {
      rejects:
        'Vector query against t.near contains a filter on "n" but that field isn\'t indexed for filtering in `filterFields`.',
    },
  ),
  vector(
    "unknown-index",
    "A vector index that does not exist cannot be searched.",
    REGISTRY,
    'await ctx.vectorSearch("t", "nope", { vector: [1, 0] });',
    { rejects: "Index t.nope not found." },
  ),
  rowOf(
    "query",
    "vector-in-query",
    "Vector search is for actions.",
    VECTOR_DOCS,
    "[]",
    "return typeof ctx.vectorSearch;",
    { value: "undefined" },
  ),
];

export const rows: readonly Row[] = [...vectorRows];
