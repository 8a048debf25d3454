import { AsyncLocalStorage } from "node:async_hooks";

/**
 * First come, first served: one transaction runs at a time, which makes every
 * query a consistent snapshot and every mutation serializable.
 *
 * `hold` takes the lock for several transactions in a row, so that they all see
 * the same snapshot.
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
