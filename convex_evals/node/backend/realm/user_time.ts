/** The border of a context as the clock of its function sees it. */

import { detached } from "../timers.ts";
import { timedOut, type Execution } from "./executions.ts";
import { stopCounting } from "./user_clock.ts";

const settled = Promise.resolve();

export class UserTime {
  readonly #execution: Execution | null;

  /** Without an execution, nothing is counted. */
  constructor(execution: Execution | null) {
    this.#execution = execution;
  }

  /** Calls code of the context, and counts its time. */
  inside<T>(run: () => T): T {
    if (this.#execution) this.#execution.clock.start();
    else stopCounting();
    return run();
  }

  /** Does what code of the context asked for, whose time is not counted. */
  outside<T>(run: () => T): T {
    const clock = this.#execution?.clock;
    if (!clock) return run();
    clock.stop();
    try {
      return run();
    } finally {
      clock.start();
    }
  }

  /** The same, where the rest is done once the code of the context waits; nothing is done where its time is up. */
  outsideLater(run: () => void): void {
    this.outside(() => {
      if (this.isUp()) return;
      // Before all that `run` leaves for later.
      if (this.#execution) void settled.then(stopCounting);
      run();
    });
  }

  /** Whether the function has used up its time; then it is ended. */
  isUp(): boolean {
    if (!this.#execution) return false;
    const { clock, limits, expire } = this.#execution;
    if (clock.usedMs <= limits.busyMs) return false;
    // Not now: should the code compute on and be terminated, what is queued for its caller would be dropped with it.
    detached(() => setImmediate(() => expire(timedOut(limits.busyMs))));
    return true;
  }
}
