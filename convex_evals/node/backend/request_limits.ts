/** How much one request may ask for. The sizes are Convex's, where it publishes them. */

/** Queries of one batch, and of one connection: those of each run at one moment, and every other function waits. */
export const MAX_QUERIES = 1000;

/** What is said of more. */
export function tooManyQueries(count: number): string {
  return `At most ${MAX_QUERIES} queries run at once, got ${count}: send them in several requests`;
}
