/** Timers for points in time, outside of whatever function call set them. */

import { AsyncLocalStorage } from "node:async_hooks";

// Timers inherit the async context of their creator; a job must not run as part
// of the transaction that scheduled it.
const outsideOfCalls = AsyncLocalStorage.snapshot();

const MAX_DELAY_MS = 2 ** 31 - 1;

/** Runs `callback` once the clock shows `dueMs` (Unix milliseconds), never earlier. Returns a cancel function. */
export function runAt(dueMs: number, callback: () => void): () => void {
  let timer: NodeJS.Timeout;
  const arm = (): void => {
    const delay = Math.min(Math.max(0, Math.ceil(dueMs - Date.now())), MAX_DELAY_MS);
    timer = outsideOfCalls(() => setTimeout(() => (Date.now() < dueMs ? arm() : callback()), delay));
  };
  arm();
  return () => clearTimeout(timer);
}

/** Runs `callback` outside of the current function call. */
export function detached<T>(callback: () => T): T {
  return outsideOfCalls(callback);
}
