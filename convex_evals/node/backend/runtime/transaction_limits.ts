/**
 * Limits on what one transaction reads and writes, in Convex's words.
 *
 * https://docs.convex.dev/production/state/limits#transactions,
 * get-convex/convex-backend crates/database/src/reads.rs, writes.rs. The numbers
 * are counted by convex-test.
 */

const HELP =
  "Consider using smaller limits in your queries, paginating your queries, or using indexed queries with a selective index range expressions.";

/** How much one function reads at most. get-convex/convex-backend crates/common/src/knobs.rs */
export const MAX_READ_DOCUMENTS = 32_000;
export const MAX_READ_BYTES = 16 << 20;

/** A limit that is reached. */
export class LimitError extends Error {}

type Wording = readonly [pattern: RegExp, text: (limit: string) => string];

const WORDINGS: readonly Wording[] = [
  [
    /^Read too much data .*\(limit: (\d+) bytes\)/,
    (limit) => `Too many bytes read in a single function execution (limit: ${limit} bytes). ${HELP}`,
  ],
  [
    /^Scanned too many documents .*\(limit: (\d+)\)/,
    (limit) => `Too many documents read in a single function execution (limit: ${limit}). ${HELP}`,
  ],
  [
    /^Too many index ranges read .*\(limit: (\d+)\)/,
    (limit) => `Too many reads in a single function execution (limit: ${limit}). ${HELP}`,
  ],
  [
    /^Wrote too much data .*\(limit: (\d+) bytes\)/,
    (limit) => `Too many bytes written in a single function execution (limit: ${limit} bytes)`,
  ],
  [
    /^Wrote too many documents .*\(limit: (\d+)\)/,
    (limit) => `Too many writes in a single function execution (limit: ${limit})`,
  ],
  [
    /^Scheduled too many functions .*\(limit: (\d+)\)/,
    (limit) => `Too many functions scheduled by this mutation (limit: ${limit})`,
  ],
  [
    /^Scheduled function arguments too large .*\(limit: (\d+) bytes\)/,
    (limit) =>
      `Too large total size of the arguments of scheduled functions from this mutation (limit: ${limit} bytes)`,
  ],
];

const COUNTED = ["trackRead", "trackWrite", "trackIndexRange", "trackScheduledFunction"] as const;

/** `tracker`, whose complaints read as Convex's. */
export function withConvexWording<T extends Record<(typeof COUNTED)[number], (...args: never[]) => void>>(
  tracker: T,
): T {
  for (const method of COUNTED) {
    const count = tracker[method].bind(tracker) as (...args: unknown[]) => void;
    Object.defineProperty(tracker, method, { value: (...args: unknown[]) => reworded(() => count(...args)) });
  }
  return tracker;
}

/** Refuses limits of a nested call that cannot be compared with what is used: nothing is more than NaN. */
export function checkTransactionLimits(limits: unknown): void {
  if (limits === undefined) return;
  const isObject = typeof limits === "object" && limits !== null;
  const bad = isObject ? Object.entries(limits).find(([, limit]) => !isAmount(limit))?.[0] : "it";
  if (bad === undefined) return;
  throw new Error(`Invalid argument \`transactionLimits\` for \`runUdf\`: ${bad} is not a number of at least 0`);
}

/** Whether `value` is a finite number that is not negative. */
export function isAmount(value: unknown): value is number {
  return typeof value === "number" && value >= 0 && value < Infinity;
}

function reworded(count: () => void): void {
  try {
    count();
  } catch (error) {
    const { message } = error as Error;
    for (const [pattern, text] of WORDINGS) {
      const limit = pattern.exec(message)?.[1];
      if (limit !== undefined) throw new LimitError(text(limit));
    }
    throw error;
  }
}
