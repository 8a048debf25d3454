/**
 * What a call may start, and until when: with the call end its timers, and what it did not await. A mutation that an action
 * started is committed before the action ends, or never.
 * get-convex/convex-backend crates/isolate/src/environment/action/mod.rs
 */

import { AsyncLocalStorage } from "node:async_hooks";
import { dropped, ownTurn } from "./executions.ts";

const lives = new AsyncLocalStorage<CallLife>();

/** The life of the call that asked for what is being done; undefined for what no call has asked for. */
export function askingLife(): CallLife | undefined {
  return lives.getStore();
}

export class CallLife {
  readonly #isAction: boolean;
  /** Operations that are not done, by what Convex calls them. */
  readonly #pending = new Map<symbol, string>();
  readonly #endings = new Set<() => void>();
  /** By the numbers that stand for them in Convex; undefined until they are started. */
  readonly #timers = new Map<number, NodeJS.Timeout | undefined>();
  #started = 0;
  #hasEnded = false;

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** An action ends when it returns; queries and mutations, when all that they started is done. */
  constructor(isAction: boolean) {
    this.#isAction = isAction;
    const leave = askingLife()?.whenEnded(() => void this.end());
    if (leave) this.whenEnded(leave);
  }

  /** Ends the call. Returns the names of the operations that were not done by then. */
  end(): readonly string[] {
    if (this.#hasEnded) return [];
    this.#hasEnded = true;
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
    for (const ending of this.#endings) ending();
    this.#endings.clear();
    return [...this.#pending.values()];
  }

  /** Has `ending` called when the call ends, or at once if it has ended; returns what takes that back. */
  whenEnded(ending: () => void): () => void {
    if (this.#hasEnded) ending();
    else this.#endings.add(ending);
    return () => void this.#endings.delete(ending);
  }

  /** Notes an operation that the call has started; returns what says that it is done, and false where the call had ended by then. */
  begin(name: string): () => boolean {
    const id = Symbol(name);
    this.#pending.set(id, name);
    return () => {
      this.#pending.delete(id);
      return !this.#hasEnded;
    };
  }

  /**
   * Does what the code of the call has asked for, as a part of the call: after its end nothing comes of it. `run` resolves to
   * what tells the code.
   */
  start(name: string, run: () => Promise<() => void>, failed: (error: unknown) => void): void {
    const isHeard = this.begin(name);
    lives
      .run(this, async () => await (this.#isAction ? this.#onNextTurn(run) : run()))
      .then((tell) => void (isHeard() && tell()))
      .catch((error: unknown) => void (isHeard() && failed(error)));
  }

  // In Convex another thread does it while the code runs on, which hears of it only when it waits.
  async #onNextTurn<T>(run: () => Promise<T>): Promise<T> {
    await ownTurn();
    if (this.#hasEnded) throw dropped();
    return await run();
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
