/**
 * Cursors as clients get them: where a page ended, and which query it was a page of.
 *
 * In Convex they are encrypted besides. get-convex/convex-backend crates/common/src/query_journal.rs, crates/keybroker/src/broker.rs
 */

import type { JsonValue } from "../runtime_types.ts";

interface Cursor {
  readonly position: string;
  readonly query: string;
}

/** The cursor for clients of a position in `query`. */
export function sealedCursor<T extends string | null>(position: T, query: JsonValue): T {
  if (position === null) return position;
  const cursor: Cursor = { position, query: fingerprint(query) };
  return JSON.stringify(cursor) as T;
}

/** The position of a client's cursor in `query`. Throws for texts that are none, and for those of other queries. */
export function openedCursor<T extends string | null | undefined>(cursor: T, query: JsonValue): T {
  if (cursor === null || cursor === undefined) return cursor;
  const { position, query: of } = parsed(cursor);
  if (of !== fingerprint(query)) throw otherQuery();
  return position as T;
}

function parsed(text: string): Cursor {
  try {
    const { position, query } = JSON.parse(text) as Partial<Cursor>;
    if (typeof position === "string" && typeof query === "string") return { position, query };
  } catch {
    // told below
  }
  throw new Error("InvalidCursor: Failed to parse cursor");
}

// By their data, clients know that they have to begin again. crates/database/src/query/mod.rs (invalid_cursor)
function otherQuery(): Error {
  return Object.assign(
    new Error(
      "InvalidCursor: Tried to run a query starting from a cursor, but it looks like this cursor is from a different query.",
    ),
    { data: { isConvexSystemError: true, paginationError: "InvalidCursor" } },
  );
}

/** A short hash (FNV-1a, 32 bits): it finds cursors of other queries, and is no protection against forged ones. */
function fingerprint(query: JsonValue): string {
  let hash = 0x811c9dc5;
  for (const character of JSON.stringify(query)) hash = Math.imul(hash ^ character.codePointAt(0)!, 0x01000193);
  return (hash >>> 0).toString(36);
}
