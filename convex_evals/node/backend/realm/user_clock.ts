/**
 * How long the code of one query or mutation computes, with the code of those that it calls: over all that it awaits, and
 * without what it awaits.
 *
 * App and backend share a thread. So the clock runs from the moment at which the app's code is entered until it asks the
 * backend for something, or until the microtasks are through. It counts the CPU time of the thread: a busy machine makes no
 * function slower.
 * get-convex/convex-backend crates/isolate/src/timeout.rs
 */

// "use node" code sees another `process`; ours is captured before it can.
const { nextTick, threadCpuUsage } = process;

const now: { counting: UserClock | null } = { counting: null };

export class UserClock {
  #usedMs = 0;
  #sinceMs = 0;

  get usedMs(): number {
    return now.counting === this ? this.#usedMs + threadCpuMs() - this.#sinceMs : this.#usedMs;
  }

  /** Runs until it is stopped, or what is queued now is through. */
  start(): void {
    if (now.counting === this) return;
    stopCounting();
    now.counting = this;
    this.#sinceMs = threadCpuMs();
    nextTick(stopCounting);
  }

  stop(): void {
    if (now.counting !== this) return;
    this.#usedMs = this.usedMs;
    now.counting = null;
  }
}

/** Stops whichever clock runs: code of nobody's, or of somebody else, comes next. */
export function stopCounting(): void {
  now.counting?.stop();
}

/** Milliseconds that this thread has computed. */
export function threadCpuMs(): number {
  const { user, system } = threadCpuUsage();
  return (user + system) / 1000;
}
