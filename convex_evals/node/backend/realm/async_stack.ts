/** The stack of async ids that Node keeps, when code is terminated in the middle. */

import { executionAsyncId } from "node:async_hooks";
import { getCallSites } from "node:util";

// Node's own code that pushes async ids, or is about to without another point at which V8 could interrupt it.
const KEEPERS_OF_ASYNC_IDS = /^node:(async_hooks|internal\/(async_hooks|timers|process\/(task_queues|promises)))$/;
// Of the watchdog itself: `keepsAsyncIds`, `judge`, and the inspector's call.
const OWN_FRAMES = 3;

/**
 * Whether the interrupted code is Node's, between two callbacks of the app: it would go on and push an async id before
 * it ends, after `forgetAsyncStack`. The next look finds it elsewhere.
 */
export function keepsAsyncIds(): boolean {
  const interrupted = getCallSites(OWN_FRAMES + 1)[OWN_FRAMES];
  return interrupted !== undefined && KEEPERS_OF_ASYNC_IDS.test(interrupted.scriptName);
}

// Node keeps a stack of async ids that JavaScript pushes and pops; what is
// terminated never pops, and Node would abort the process over the mismatch.
// This is the path on which Node itself clears the stack after an exception.
export function forgetAsyncStack(): void {
  if (executionAsyncId() === 0) return;
  const internals = process as unknown as { _fatalException?: (error: Error, fromPromise: boolean) => boolean };
  if (!internals._fatalException || process.hasUncaughtExceptionCaptureCallback()) return;
  process.setUncaughtExceptionCaptureCallback(() => {});
  try {
    internals._fatalException(new Error("terminated"), false);
  } finally {
    process.setUncaughtExceptionCaptureCallback(null);
  }
}
