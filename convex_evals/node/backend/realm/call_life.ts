/**
 * What a call may start, and until when: with the call end its timers, and what it did not await.
 * get-convex/convex-backend crates/isolate/src/environment/action/mod.rs
 */

export class CallLife {
  /** By the numbers that stand for them in Convex; undefined until they are started. */
  readonly #timers = new Map<number, NodeJS.Timeout | undefined>();
  #started = 0;
  #hasEnded = false;

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  end(): void {
    this.#hasEnded = true;
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
  }

  startTimer(callback: () => void, delayMs: number, repeats: boolean): number {
    this.#started += 1;
    const id = this.#started;
    if (this.#hasEnded) return id;
    this.#timers.set(id, undefined);
    // Node's lists of timers stay half made where the stack ends amid its code: the app may have used it up.
    void Promise.resolve().then(() => {
      if (this.#timers.has(id)) this.#timers.set(id, this.#timer(id, callback, delayMs, repeats));
    });
    return id;
  }

  /** Ends a timer of this call; other numbers mean nothing. */
  clearTimer(id: number): void {
    clearTimeout(this.#timers.get(id));
    this.#timers.delete(id);
  }

  #timer(id: number, callback: () => void, delayMs: number, repeats: boolean): NodeJS.Timeout {
    // As a microtask: what Node calls from its own JavaScript cannot be ended without leaving traces.
    const run = (): void => void Promise.resolve().then(callback);
    if (repeats) return setInterval(run, delayMs);
    return setTimeout(() => {
      this.#timers.delete(id);
      run();
    }, delayMs);
  }
}
