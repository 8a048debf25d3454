/** Queries and mutations that never end, and what they leave dangling. */

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

/** Runs a query or mutation within its limits; nothing it left behind writes afterwards. */
export async function runTransaction<T>(
  isNested: boolean,
  transaction: OpenTransaction,
  run: () => Promise<T>,
): Promise<T> {
  try {
    return isNested ? await host.guardNested(run) : await host.guardTransaction(run);
  } finally {
    transaction.closed = true;
  }
}
