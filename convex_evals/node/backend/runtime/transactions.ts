/** Queries and mutations that never settle, and what they leave dangling. */

import { host } from "embedded:host";

interface OpenTransaction {
  closed: boolean;
}

/** Refuses database calls of a function whose transaction is over. */
export function checkTransactionOpen(transaction: OpenTransaction | undefined): void {
  if (transaction?.closed) {
    throw new Error("Convex functions cannot access the database after they have returned. Did you forget to await a promise?");
  }
}

/**
 * Runs a top-level query or mutation and gives up on it after the limit. They
 * have neither timers nor network: one that is still pending waits for something
 * that will never come, and would keep every other transaction waiting.
 */
export async function withinTimeLimit<T>(
  isNested: boolean,
  transaction: OpenTransaction,
  run: () => Promise<T>,
): Promise<T> {
  if (isNested) return await run();
  const limitMs = host.functionTimeLimitMs();
  let cancel = (): void => {};
  const expired = new Promise<never>((_resolve, reject) => {
    cancel = host.setTimer(() => {
      transaction.closed = true;
      reject(new Error(`Function execution timed out (maximum duration: ${limitMs / 1000}s)`));
    }, limitMs);
  });
  try {
    return await Promise.race([run(), expired]);
  } finally {
    cancel();
  }
}
