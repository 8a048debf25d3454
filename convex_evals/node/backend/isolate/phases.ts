/**
 * What a context knows of time and chance: while modules are loaded, what was noted of the push, the same for each call;
 * then that of its own function.
 * get-convex/convex-backend crates/isolate/src/environment/udf/phase.rs, action/phase.rs, helpers/performance.rs
 */

import { notAllowed, seededRandom, type Random } from "./determinism.ts";
import { asked } from "./host.ts";
import type { Surroundings } from "./types.ts";
import type { Sources } from "./web/sources.ts";

const { floor, max, random: nativeRandom } = Math;

/** From where on a function's `performance` counts. */
interface Begun {
  readonly dateMs: number;
  /** On the host's clock that only runs forward. */
  readonly clockMs: number;
}

export class Phases implements Sources {
  readonly timeOrigin: number;
  readonly #surroundings: Surroundings;
  #random: Random;
  /** Null while modules are loaded. */
  #begun: Begun | null = null;

  constructor(surroundings: Surroundings) {
    this.#surroundings = surroundings;
    this.timeOrigin = surroundings.load.ms;
    this.#random = seededRandom(surroundings.load.seed);
  }

  get isLoading(): boolean {
    return this.#begun === null;
  }

  /** Says that modules are loaded, and the function is about to run. */
  begin(): void {
    const { transactionMs, seed } = this.#surroundings;
    this.#random = this.#isTransaction ? seededRandom(seed) : nativeRandom;
    this.#begun = { dateMs: transactionMs ?? dateNow(), clockMs: clockNow() };
  }

  random(): number {
    return this.#random();
  }

  fillRandom(bytes: Uint8Array): void {
    if (!this.#isTransaction && this.#begun) asked((host) => host.crypto.fillRandom(bytes));
    else for (let at = 0; at < bytes.length; at++) bytes[at] = this.#random() * 256;
  }

  requireHostRandomness(): void {
    if (this.#isTransaction) notAllowed("cryptographic randomness")();
    if (!this.#begun) throw new Error("Cannot use cryptographic randomness at import time");
  }

  /** What `Date.now()` says. */
  dateNow(): number {
    if (!this.#begun) return this.timeOrigin;
    return this.#surroundings.transactionMs ?? dateNow();
  }

  /** What `performance.now()` says. */
  now(): number {
    if (!this.#begun) return 0;
    const { dateMs, clockMs } = this.#begun;
    const elapsedMs = this.#surroundings.kind === "query" ? 0 : clockNow() - clockMs;
    return floor((max(dateMs - this.timeOrigin, 0) + elapsedMs) * 10) / 10;
  }

  get #isTransaction(): boolean {
    return this.#surroundings.transactionMs !== null;
  }
}

function dateNow(): number {
  return asked((host) => host.dateNow());
}

function clockNow(): number {
  return asked((host) => host.now());
}
