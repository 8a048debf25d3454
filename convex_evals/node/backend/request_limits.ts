/** How much one request may ask for. */

/**
 * Queries of one batch, and of one connection: they run at one moment, and every other function waits. Convex has no limit
 * that is published.
 */
export const MAX_QUERIES = 1000;

/** What is said of more. */
export function tooManyQueries(count: number): string {
  return `At most ${MAX_QUERIES} queries run at once, got ${count}: send them in several requests`;
}

/** A request that calls functions: twice what arguments may be, since JSON is longer than what it says. */
export const MAX_CALL_BYTES = 32 << 20;

/** A push, or a file. */
export const MAX_BODY_BYTES = 128 << 20;

/** The request to an HTTP action, and its response: https://docs.convex.dev/functions/http-actions#limits */
export const MAX_HTTP_ACTION_BYTES = 20 << 20;

/** Levels of JSON: as many as serde_json reads, which Convex reads requests with. */
export const MAX_JSON_LEVELS = 127;
