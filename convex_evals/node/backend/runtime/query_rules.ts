/** Rules of reads: text search, vector search, one page for each function. */

import type { SearchIndexJson, TableJson, VectorIndexJson } from "../runtime_types.ts";
import { requireEnabled } from "./index_ranges.ts";
import { MAX_SEARCH_RESULTS } from "./text_search.ts";

interface SearchSource {
  readonly filters: readonly { readonly type: "Search" | "Eq"; readonly fieldPath: string }[];
}

const MAX_FILTER_CONDITIONS = 8;

/** The search index of a query; throws when the query does not fit it. get-convex/convex-backend crates/search/src/lib.rs (compile) */
export function checkSearchQuery(
  source: SearchSource,
  tableName: string,
  indexName: string | undefined,
  table: TableJson | undefined,
): SearchIndexJson {
  const name = `${tableName}.${indexName}`;
  const index = table?.searchIndexes.find((candidate) => candidate.indexDescriptor === indexName);
  if (!index) {
    requireEnabled(table, name, ({ indexDescriptor }) => indexDescriptor === indexName);
    throw new Error(`Index ${name} is not a search index`);
  }
  let searches = 0;
  for (const { type, fieldPath } of source.filters) {
    if (type === "Eq") checkFilterField(name, index, fieldPath);
    else checkSearchField(name, index, fieldPath, ++searches);
  }
  if (searches === 0) {
    throw new Error(
      `Search query against ${name} does not contain any search filters. You must include a search filter like \`q.search("${JSON.stringify(index.searchField)}", searchText)\`.`,
    );
  }
  const conditions = source.filters.length - searches;
  if (conditions > MAX_FILTER_CONDITIONS) {
    throw new Error(
      `Search query against ${name} has too many filter conditions. Max: ${MAX_FILTER_CONDITIONS} Actual: ${conditions}`,
    );
  }
  return index;
}

function checkSearchField(name: string, index: SearchIndexJson, field: string, searches: number): void {
  if (field !== index.searchField) {
    throw new Error(
      `Search query against ${name} contains a search filter against "${field}", which doesn't match the indexed \`searchField\` "${index.searchField}".`,
    );
  }
  if (searches > 1) {
    throw new Error(
      `Search query against ${name} contains multiple search filters against "${field}". Only one is allowed.`,
    );
  }
}

function checkFilterField(name: string, index: SearchIndexJson, field: string): void {
  if (index.filterFields.includes(field)) return;
  throw new Error(
    `Search query against ${name} contains an equality filter on "${field}" but that field isn't indexed for filtering in \`filterFields\`.`,
  );
}

/** Refuses to read on after the last result that a search can have. */
export function checkSearchPosition(position: number): void {
  if (position < MAX_SEARCH_RESULTS) return;
  throw new Error(
    `Search query scanned too many documents (fetched ${MAX_SEARCH_RESULTS}). Consider using a smaller limit, paginating the query, or using a filter field to limit the number of documents pulled from the search index.`,
  );
}

const MAX_VECTOR_RESULTS = 256;
const DEFAULT_VECTOR_RESULTS = 10;
const MAX_VECTOR_CONDITIONS = 64;
const MAX_DIMENSIONS = 4096;

interface VectorQuery {
  readonly index: VectorIndexJson;
  readonly limit: number;
}

/** The index and limit of a vector query. get-convex/convex-backend crates/vector/src/{qdrant_index,query,lib}.rs */
export function checkVectorQuery(
  table: TableJson | undefined,
  name: string,
  vector: readonly number[],
  expressions: readonly unknown[],
  limit: number | null | undefined,
): VectorQuery {
  const indexName = name.split(".")[1];
  const index = table?.vectorIndexes.find((candidate) => candidate.indexDescriptor === indexName);
  if (!index) {
    requireEnabled(table, name, ({ indexDescriptor }) => indexDescriptor === indexName);
    throw new Error(`Index ${name} is not a vector index`);
  }
  const results = limit ?? DEFAULT_VECTOR_RESULTS;
  const expected = vector.length > MAX_DIMENSIONS ? MAX_DIMENSIONS : index.dimensions;
  if (vector.length > MAX_DIMENSIONS) throw wrongDimensions(expected, vector.length);
  if (!Number.isInteger(results) || results < 0 || results > MAX_VECTOR_RESULTS) {
    throw new Error(`Vector queries can fetch at most ${MAX_VECTOR_RESULTS} results, requested ${results}.`);
  }
  const fields = expressions.flatMap((expression) => filteredFields(expression));
  for (const field of fields) {
    if (index.filterFields.includes(field)) continue;
    throw new Error(
      `Vector query against ${name} contains a filter on "${field}" but that field isn't indexed for filtering in \`filterFields\`.`,
    );
  }
  if (fields.length > MAX_VECTOR_CONDITIONS) {
    throw new Error(
      `Vector query against ${name} has too many conditions. Max: ${MAX_VECTOR_CONDITIONS} Actual: ${fields.length}`,
    );
  }
  if (vector.length !== index.dimensions) throw wrongDimensions(expected, vector.length);
  return { index, limit: results };
}

function wrongDimensions(expected: number, received: number): Error {
  return new Error(`Expected a vector with dimensions ${expected}, received ${received}.`);
}

type FilterExpression = Readonly<Record<string, readonly FilterExpression[] | string | undefined>>;

function filteredFields(expression: unknown): string[] {
  const { $eq, $or } = expression as FilterExpression;
  if (Array.isArray($or)) return $or.flatMap((item: unknown) => filteredFields(item));
  if (!Array.isArray($eq)) throw new Error("Filters should be a combination of `q.eq` and `q.or`.");
  const [field, literal] = $eq as readonly FilterExpression[];
  if (typeof field?.["$field"] !== "string" || literal === undefined || !("$literal" in literal)) {
    throw new Error("`q.eq` must take a field path as its first argument and a value as its second");
  }
  return [field["$field"]];
}

/** Refuses the second `.paginate()` of a function. */
export function checkSinglePage(pages: number): void {
  if (pages > 1) {
    throw new Error(
      "This query or mutation function ran multiple paginated queries. Convex only supports a single paginated query in each function.",
    );
  }
}
