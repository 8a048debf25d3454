import { AsyncLocalStorage } from "node:async_hooks";

/**
 * First come, first served: one transaction runs at a time, which makes every
 * query a consistent snapshot and every mutation serializable.
 *
 * `hold` takes the lock for several transactions in a row, so that they all see
 * the same snapshot. Each of these asks for the lock like any other; that it belongs to the holder is in its async
 * context, not in the lock: code of others runs in between, and must wait. With two queries under `hold`, and a mutation:
 *
 *     hold: acquire            taken by the holder
 *     query 1: acquire         in the holder's context: goes on at once
 *     mutation: acquire        elsewhere: waits
 *     query 1: release         in the holder's context: nothing is passed on
 *     query 2: acquire ...     sees what query 1 saw
 *     hold ends                passed on to the mutation
 */
export class TransactionLock {
  readonly #holders = new AsyncLocalStorage<symbol>();
  readonly #waiting: (() => void)[] = [];
  #owner: symbol | null = null;
  #taken = false;

  async acquire(): Promise<void> {
    if (this.#isHolder()) return;
    if (!this.#taken) {
      this.#taken = true;
      return;
    }
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  release(): void {
    if (this.#isHolder()) return;
    this.#passOn();
  }

  /** Runs `task` while no transaction but those started by `task` can run. */
  async hold<T>(task: () => Promise<T>): Promise<T> {
    await this.acquire();
    const owner = Symbol("holder");
    this.#owner = owner;
    try {
      return await this.#holders.run(owner, task);
    } finally {
      this.#owner = null;
      this.#passOn();
    }
  }

  #isHolder(): boolean {
    return this.#owner !== null && this.#holders.getStore() === this.#owner;
  }

  // The lock stays taken while it is handed over, so that nobody can slip in
  // between the release and the next waiter's wake-up.
  #passOn(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#taken = false;
  }
}
