/** Rules of reads: text search, vector search, pagination. */

import type { SearchIndexJson, VectorIndexJson } from "../app/runtime_types.ts";

interface SearchSource {
  readonly filters: readonly { readonly type: "Search" | "Eq"; readonly fieldPath: string }[];
}

/** https://docs.convex.dev/search/text-search#defining-search-indexes */
export function checkSearchQuery(
  source: SearchSource,
  table: string,
  indexName: string | undefined,
  indexes: readonly SearchIndexJson[] | undefined,
): void {
  const index = indexes?.find((candidate) => candidate.indexDescriptor === indexName);
  if (!index) throw new Error(`Search index ${table}.${indexName} not found.`);
  for (const filter of source.filters) {
    const isSearch = filter.type === "Search";
    const allowed = isSearch ? filter.fieldPath === index.searchField : index.filterFields.includes(filter.fieldPath);
    if (allowed) continue;
    const purpose = isSearch ? "search" : "filtering";
    throw new Error(`Search query against ${table}.${indexName} contains a ${isSearch ? "search" : "equality"} filter on ${filter.fieldPath} but that field isn't indexed for ${purpose} in ${isSearch ? "`searchField`" : "`filterFields`"}.`);
  }
}

const MAX_VECTOR_RESULTS = 256;

/** https://docs.convex.dev/search/vector-search#limits */
export function checkVectorQuery(
  index: VectorIndexJson,
  vector: readonly number[],
  expressions: readonly unknown[],
  limit: number | undefined,
): void {
  if (vector.length !== index.dimensions) {
    throw new Error(`Vector search query dimensions ${vector.length} do not match the dimensions ${index.dimensions} of index ${index.indexDescriptor}`);
  }
  if (limit !== undefined && !(limit >= 1 && limit <= MAX_VECTOR_RESULTS)) {
    throw new Error(`Vector queries require a limit between 1 and ${MAX_VECTOR_RESULTS}, got ${limit}`);
  }
  for (const field of fieldsOf(expressions)) {
    if (!index.filterFields.includes(field)) {
      throw new Error(`Vector query against index ${index.indexDescriptor} contains an equality filter on ${field} but that field isn't indexed for filtering in \`filterFields\`.`);
    }
  }
}

function* fieldsOf(expression: unknown): Generator<string> {
  if (typeof expression !== "object" || expression === null) return;
  const field = (expression as { $field?: unknown }).$field;
  if (typeof field === "string") yield field;
  for (const child of Object.values(expression)) yield* fieldsOf(child);
}

export function checkPageSize(pageSize: number): void {
  if (!(pageSize >= 1)) throw new Error(`Invalid pagination options: numItems must be at least 1, got ${pageSize}`);
}
