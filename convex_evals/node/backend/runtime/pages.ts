/**
 * Pages: which documents one has, where it ends, and where it should be split.
 *
 * get-convex/convex-backend crates/isolate/src/environment/udf/async_syscall.rs (query_page), crates/database/src/query/{index_range,search_query}.rs
 */

import { checkSearchPosition } from "./query_rules.ts";
import { sizeProblem, wrongType } from "./serde_text.ts";
import { MAX_SEARCH_RESULTS } from "./text_search.ts";
import { LimitError, MAX_READ_BYTES, MAX_READ_DOCUMENTS } from "./transaction_limits.ts";

/** The position after the last document that a query can ever have. */
const END = "_end_cursor";
const MAX_FETCHED = 1024;
// How many documents a query with filters reads ahead.
const FETCHED_TO_FILTER = 100;
const MAX_ARRAY_LENGTH = 8192;

interface PageRequest {
  readonly cursor?: string | null;
  /** The page ends here, however many documents it then has. */
  readonly endCursor?: string | null;
  readonly pageSize: number;
  readonly maximumRowsRead?: number | null;
  readonly maximumBytesRead?: number | null;
}

/** Refuses what cannot be asked for. */
export function checkPageRequest(request: PageRequest): void {
  const { pageSize, maximumRowsRead, maximumBytesRead } = request;
  const problem = argumentsProblem(request);
  if (problem !== null) throw new Error(`Invalid arguments for \`queryPage\`: ${problem}`);
  if (pageSize === 0) throw new Error("Must request at least 1 document while paginating");
  if (pageSize > MAX_READ_DOCUMENTS) throw new Error(`Requested too many items: ${pageSize}`);
  if (maximumRowsRead === 0 || maximumBytesRead === 0) {
    throw new Error("maximumRowsRead and maximumBytesRead must be greater than 0");
  }
}

function argumentsProblem({
  cursor,
  endCursor,
  pageSize,
  maximumRowsRead,
  maximumBytesRead,
}: PageRequest): string | null {
  for (const text of [cursor ?? null, endCursor ?? null] as unknown[]) {
    if (text !== null && typeof text !== "string") return wrongType(text, "a string");
  }
  if (pageSize === undefined) return "missing field `pageSize`";
  for (const size of [pageSize, maximumRowsRead ?? 0, maximumBytesRead ?? 0]) {
    const problem = sizeProblem(size);
    if (problem !== null) return problem;
  }
  return null;
}

interface PagedQuery<D> {
  /** All that the query reads, in its order. */
  readonly documents: readonly D[];
  readonly isSearch: boolean;
  readonly isFiltered: boolean;
  passes(document: D): boolean;
  /** Where a document stands relative to a cursor: after it if the number is positive. */
  compare(document: D, cursor: string): number;
  cursorOf(document: D): string;
  sizeOf(document: D): number;
  /** Counts a document that is read; throws `LimitError`. */
  read(document: D): void;
}

interface Page<D> {
  readonly page: readonly D[];
  readonly isDone: boolean;
  readonly continueCursor: string;
  readonly splitCursor: string | null;
  readonly pageStatus: "SplitRequired" | "SplitRecommended" | null;
}

/** Reads a page: until it is full, or to its end cursor. */
export function readPage<D>(query: PagedQuery<D>, request: PageRequest): Page<D> {
  const reader = new Reader(query, request);
  const endCursor = request.endCursor ?? null;
  const page: D[] = [];
  let pageStatus: Page<D>["pageStatus"] = null;
  try {
    while (endCursor !== null || page.length < request.pageSize) {
      const document = reader.next(endCursor === null ? request.pageSize - page.length : request.pageSize);
      if (document === null) break;
      page.push(document);
    }
  } catch (error) {
    // Without a position there is no page that could go on.
    if (!(error instanceof LimitError) || reader.position === null) throw error;
    pageStatus = "SplitRequired";
  }
  if (pageStatus === null && (reader.isApproachingLimit() || page.length > soft(MAX_ARRAY_LENGTH))) {
    pageStatus = "SplitRecommended";
  }
  const continueCursor = endCursor ?? reader.position!;
  return { page, isDone: continueCursor === END, continueCursor, splitCursor: reader.splitCursor(), pageStatus };
}

const soft = (limit: number): number => Math.floor((limit * 3) / 4);

class Reader<D> {
  readonly #query: PagedQuery<D>;
  readonly #documents: readonly D[];
  readonly #endCursor: string | null;
  readonly #limits: { readonly rows: number; readonly bytes: number };
  /** The cursor of what was read last. */
  position: string | null;
  #bytes = 0;
  #returned = 0;
  // Documents are read some ahead, and counted then.
  #fetched = 0;
  #exhausted = false;

  constructor(query: PagedQuery<D>, { cursor, endCursor, maximumRowsRead, maximumBytesRead }: PageRequest) {
    this.#query = query;
    this.#endCursor = endCursor ?? null;
    this.#limits = { rows: maximumRowsRead ?? Infinity, bytes: maximumBytesRead ?? Infinity };
    this.position = cursor ?? null;
    this.#documents = documentsBetween(query, this.position, this.#endCursor);
  }

  /** The next document that passes the filters, or null at the end. Throws `LimitError`. */
  next(wanted: number): D | null {
    for (;;) {
      const document = this.#query.isSearch ? this.#found() : this.#scanned(wanted);
      if (document === null || this.#query.passes(document)) return document;
    }
  }

  #found(): D | null {
    checkSearchPosition(this.#returned);
    const document = this.#documents[this.#returned];
    return document === undefined ? this.#ended() : this.#advanced(document);
  }

  #scanned(wanted: number): D | null {
    // To its end cursor a page is read whatever the limits are: the next page begins there.
    const limited = this.#endCursor === null;
    if (limited && this.#bytes >= this.#limits.bytes) {
      throw new LimitError(`Query scanned too much data (fetched ${this.#bytes} bytes).`);
    }
    if (this.#returned === this.#fetched && !this.#exhausted) {
      this.#fetch(wanted, limited ? this.#limits.rows : Infinity);
    }
    const document = this.#returned < this.#fetched ? this.#documents[this.#returned] : undefined;
    return document === undefined ? this.#ended() : this.#advanced(document);
  }

  #fetch(wanted: number, limit: number): void {
    if (this.#fetched >= limit) throw new LimitError(`Query scanned too many documents (fetched ${this.#fetched}).`);
    const ahead = Math.min(this.#query.isFiltered ? FETCHED_TO_FILTER : wanted, MAX_FETCHED, limit - this.#fetched);
    const fetched = Math.min(ahead, this.#documents.length - this.#fetched);
    this.#fetched += fetched;
    this.#exhausted = fetched < ahead;
  }

  #advanced(document: D): D {
    this.#query.read(document);
    this.#returned++;
    this.#bytes += this.#query.sizeOf(document);
    this.position = this.#query.cursorOf(document);
    return document;
  }

  #ended(): null {
    this.position = this.#endCursor ?? END;
    return null;
  }

  /** Where the page should be split in two, if that makes sense. */
  splitCursor(): string | null {
    const document = this.#documents[Math.floor(this.#returned / 2)];
    if (this.#query.isSearch || this.#returned <= 2 || document === undefined) return null;
    return this.#query.cursorOf(document);
  }

  isApproachingLimit(): boolean {
    if (this.#query.isSearch) {
      return this.#returned > soft(MAX_SEARCH_RESULTS) || this.#bytes > soft(MAX_READ_BYTES);
    }
    const { rows, bytes } = this.#limits;
    return (
      this.#fetched > soft(Math.min(rows, MAX_READ_DOCUMENTS)) || this.#bytes > soft(Math.min(bytes, MAX_READ_BYTES))
    );
  }
}

function documentsBetween<D>(query: PagedQuery<D>, cursor: string | null, endCursor: string | null): readonly D[] {
  const { documents } = query;
  const after = (position: string | null): number => {
    if (position === END) return documents.length;
    const at = documents.findIndex((document) => position === null || query.compare(document, position) > 0);
    return at < 0 ? documents.length : at;
  };
  return documents.slice(after(cursor), after(endCursor ?? END));
}
