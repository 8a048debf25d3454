/**
 * What a call may start, and until when: with the call end its timers, and what it did not await.
 * get-convex/convex-backend crates/isolate/src/environment/action/mod.rs
 */

export class CallLife {
  readonly #timers = new Map<number, NodeJS.Timeout>();
  #hasEnded = false;

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  end(): void {
    this.#hasEnded = true;
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
  }

  /** Numbers stand for timers, as in Convex. */
  startTimer(callback: () => void, delayMs: number, repeats: boolean): number {
    if (this.#hasEnded) return 0;
    // As a microtask: what Node calls from its own JavaScript cannot be ended without leaving traces.
    const run = (): void => void Promise.resolve().then(callback);
    const timer = repeats
      ? setInterval(run, delayMs)
      : setTimeout(() => {
          this.#timers.delete(id);
          run();
        }, delayMs);
    const id = Number(timer);
    this.#timers.set(id, timer);
    return id;
  }

  /** Ends a timer of this call; other numbers mean nothing. */
  clearTimer(id: number): void {
    clearTimeout(this.#timers.get(id));
    this.#timers.delete(id);
  }
}
