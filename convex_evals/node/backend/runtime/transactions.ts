/**
 * Queries and mutations that never end, and what they leave dangling.
 *
 * There is one transaction at a time, and its code shares a thread with everything else. Whatever that code does, its
 * transaction must end, or the deployment stands still; and nothing of it may happen after that end, when the same calls
 * would write into the transaction of somebody else. A mutation `send` that calls `count`, and does not await an insert:
 *
 *     begin                  `acquireTransaction`: waits for its turn
 *     guardTransaction       the watchdog's clock starts; A, the transaction of `send`, is open
 *       insert, awaited      A is open: a pending write, and a sign of life for the watchdog
 *       runMutation(count)   nested: no second turn, and no second clock: `guardNested`; B is open
 *         patch              B is open: a pending write one level further in
 *       count returns        B is closed; its pending writes become those of `send`
 *       insert, not awaited  still pending when `send` returns
 *     settled                one more turn of the event loop: the insert happens, or its rejection fails `send`
 *     (runTransaction ends)  A is closed
 *     commit                 the return value has been checked: all writes become visible, and the next one gets its turn
 *
 * What is closed stays closed: had the watchdog ended `send` while it waited, the rest of `send` might run later, in the
 * middle of the next transaction. `checkTransactionOpen` finds A, which the code carries along, and refuses.
 */

import { AsyncLocalStorage } from "node:async_hooks";
import { host } from "embedded:host";

interface OpenTransaction {
  closed: boolean;
}

/** Refuses database calls of a function whose transaction is over. */
export function checkTransactionOpen(transaction: OpenTransaction | undefined): void {
  host.signOfLife();
  if (transaction?.closed) {
    throw new Error(
      "Convex functions cannot access the database after they have returned. Did you forget to await a promise?",
    );
  }
}

// MAX_REACTOR_CALL_DEPTH of get-convex/convex-backend crates/common/src/knobs.rs
const MOST_LEVELS = 8;
const levels = new AsyncLocalStorage<number>();

/** Runs a query or mutation within its limits; nothing it left behind writes afterwards. */
export async function runTransaction<T>(
  isNested: boolean,
  transaction: OpenTransaction,
  run: () => Promise<T>,
): Promise<T> {
  const level = isNested ? (levels.getStore() ?? 0) + 1 : 0;
  try {
    if (level > MOST_LEVELS) {
      throw new Error("Cross component call depth limit exceeded. Do you have an infinite loop in your app?");
    }
    return await levels.run(level, () => (isNested ? host.guardNested(run) : host.guardTransaction(run)));
  } finally {
    transaction.closed = true;
  }
}
