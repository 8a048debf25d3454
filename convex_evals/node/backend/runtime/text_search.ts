/**
 * Full text search: which documents match, and in which order.
 *
 * get-convex/convex-backend crates/search/src/{lib,constants,aggregation}.rs; the
 * scores are tantivy's BM25 (https://en.wikipedia.org/wiki/Okapi_BM25).
 */

import type { SearchIndexJson } from "../runtime_types.ts";

const MAX_QUERY_TERMS = 16;
const MAX_TERM_BYTES = 32;
const MAX_MATCHED_TERMS = 64;
const K1 = 1.2;
const B = 0.75;
/** A term that only starts like the last word of the query counts half. */
const PREFIX_BOOST = 0.5;

/** How many documents one search can return. */
export const MAX_SEARCH_RESULTS = 1024;

interface SearchFilter {
  readonly type: "Search" | "Eq";
  readonly fieldPath: string;
  readonly value: unknown;
}

interface SearchedDocument {
  readonly _id: string;
  readonly _creationTime: number;
}

type SortKey<D> = (document: D) => number;

interface Ranking<D> {
  readonly documents: D[];
  /** What the results are sorted by, ascending; ends with the id. */
  readonly sortKeys: readonly (SortKey<D> | "_id")[];
}

/** The words of a text as the index has them. */
export function tokenize(text: string): string[] {
  const words = text.match(/[\p{Alphabetic}\p{N}]+/gu) ?? [];
  return words
    .filter((word) => new TextEncoder().encode(word).length < MAX_TERM_BYTES)
    .map((word) => word.toLowerCase());
}

/** Ranks the documents of a table by how well they match; those that do not match are left out. */
export function searchText<D extends SearchedDocument>(
  filters: readonly SearchFilter[],
  index: SearchIndexJson,
  documents: readonly D[],
  fieldOf: (path: string, document: D) => unknown,
  passes: (document: D, filter: SearchFilter) => boolean,
): Ranking<D> {
  const query = filters.find((filter) => filter.type === "Search");
  const equalities = filters.filter((filter) => filter.type === "Eq");
  const corpus = new Corpus(documents.map((document) => tokensOf(fieldOf(index.searchField, document))));
  const terms = corpus.matching(tokenize(String(query?.value ?? "")).slice(0, MAX_QUERY_TERMS));
  const scores = new Map<D, number>();
  documents.forEach((document, at) => {
    const score = corpus.score(at, terms);
    if (score > 0 && equalities.every((filter) => passes(document, filter))) scores.set(document, score);
  });
  const best = [...scores.keys()].sort(
    (a, b) => (scores.get(b) ?? 0) - (scores.get(a) ?? 0) || b._creationTime - a._creationTime,
  );
  return {
    documents: best.slice(0, MAX_SEARCH_RESULTS),
    sortKeys: [(document) => -(scores.get(document) ?? 0), (document) => -document._creationTime, "_id"],
  };
}

function tokensOf(value: unknown): string[] {
  return typeof value === "string" ? tokenize(value) : [];
}

/** The words of every document, and how rare they are. */
class Corpus {
  readonly #counts: Map<string, number>[];
  readonly #lengths: number[];
  readonly #documentFrequency = new Map<string, number>();
  readonly #averageLength: number;

  constructor(documents: readonly (readonly string[])[]) {
    this.#counts = documents.map(countWords);
    this.#lengths = documents.map((words) => words.length);
    for (const counts of this.#counts) {
      for (const word of counts.keys()) this.#documentFrequency.set(word, (this.#documentFrequency.get(word) ?? 0) + 1);
    }
    this.#averageLength = this.#lengths.reduce((sum, length) => sum + length, 0) / Math.max(1, documents.length);
  }

  /** Words of the documents that a query matches, each with its boost. Only the last word of a query may be incomplete. */
  matching(query: readonly string[]): Map<string, number> {
    const matches = new Map<string, number>();
    for (const word of query) if (this.#documentFrequency.has(word)) matches.set(word, 1);
    const last = query.at(-1);
    if (last === undefined) return matches;
    const completions = [...this.#documentFrequency.keys()]
      .filter((word) => word.startsWith(last) && !matches.has(word))
      .sort();
    for (const word of completions.slice(0, Math.max(0, MAX_MATCHED_TERMS - matches.size))) {
      matches.set(word, PREFIX_BOOST);
    }
    return matches;
  }

  score(document: number, terms: ReadonlyMap<string, number>): number {
    let score = 0;
    const norm = K1 * (1 - B + (B * quantizedLength(this.#lengths[document] ?? 0)) / this.#averageLength);
    for (const [word, boost] of terms) {
      const frequency = this.#counts[document]?.get(word) ?? 0;
      if (frequency > 0) score += boost * this.#rarity(word) * (1 + K1) * (frequency / (frequency + norm));
    }
    return Math.fround(score);
  }

  #rarity(word: string): number {
    const documents = this.#documentFrequency.get(word) ?? 0;
    return Math.log(1 + (this.#counts.length - documents + 0.5) / (documents + 0.5));
  }
}

function countWords(words: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

// The index keeps a document's length in one byte: exact up to 40 words, with
// four significant bits beyond.
function quantizedLength(length: number): number {
  if (length <= 40) return length;
  const step = 2 ** (Math.floor(Math.log2(length - 24)) - 3);
  return 24 + Math.floor((length - 24) / step) * step;
}
