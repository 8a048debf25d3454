/**
 * Which code of an app may reach outside: actions alone. It is asked when a function is called, not when it is looked up, since
 * a module may keep `fetch` for its queries, or start a loop that uses it for them.
 */

import { AsyncLocalStorage } from "node:async_hooks";

type Kind = "action" | "transaction";

const running = new AsyncLocalStorage<Kind>();

/** Runs code of the app as an action, or as a query or mutation. */
export function runAs<T>(kind: Kind, run: () => T): T {
  return running.run(kind, run);
}

/** Throws where the code that asks belongs to no action. */
export function checkInAction(what: string): void {
  if (running.getStore() !== "action") throw notAllowed(what);
}

/** Throws in queries and mutations. */
export function checkNotInTransaction(what: string): void {
  if (running.getStore() === "transaction") throw notAllowed(what);
}

// get-convex/convex-backend crates/isolate/src/environment/udf/mod.rs
function notAllowed(what: string): Error {
  return new Error(
    `Can't use ${what} in queries and mutations. Please consider using an action. See https://docs.convex.dev/functions/actions for more details.`,
  );
}
