/**
 * `AbortController` and `AbortSignal`.
 *
 * https://dom.spec.whatwg.org/#aborting-ongoing-activities
 * get-convex/convex-backend npm-packages/udf-runtime/src/03_abort_signal.ts
 */

import { DOMException } from "./dom_exception.ts";
import { EventTarget, fire, type Event } from "./events.ts";
import { defineInterface, requireArguments } from "./interface.ts";

type Handler = ((this: AbortSignal, event: Event) => unknown) | null;

// Only this module makes signals.
const OWN = Symbol("own");

let hasBrand: (value: object) => boolean;
let abort: (signal: AbortSignal, reason: unknown) => void;
let follow: (signal: AbortSignal, algorithm: () => void) => () => void;

/**
 * Calls `algorithm` when the signal is aborted, before its event; returns how to forget it. Code that works on something that
 * may be aborted uses this: the app can replace `addEventListener`.
 */
export function onAbort(signal: AbortSignal, algorithm: () => void): () => void {
  return follow(signal, algorithm);
}

/** Whether a value is a signal, whatever its prototype has become. */
export function isSignal(value: unknown): value is AbortSignal {
  return typeof value === "object" && value !== null && hasBrand(value);
}

export class AbortSignal extends EventTarget {
  #aborted = false;
  #reason: unknown = undefined;
  #algorithms: readonly (() => void)[] = [];
  #onabort: Handler = null;
  #listens = false;

  static {
    hasBrand = (value) => #aborted in value;
    abort = (signal, reason) => signal.#abort(reason);
    follow = (signal, algorithm) => {
      signal.#algorithms = [...signal.#algorithms, algorithm];
      return () => {
        signal.#algorithms = signal.#algorithms.filter((other) => other !== algorithm);
      };
    };
  }

  /** @internal */
  constructor(secret?: symbol) {
    if (secret !== OWN) throw new TypeError("Illegal constructor");
    super();
  }

  static abort(reason?: unknown): AbortSignal {
    const signal = new AbortSignal(OWN);
    signal.#abort(reason);
    return signal;
  }

  static any(signals: Iterable<AbortSignal>): AbortSignal {
    requireArguments(arguments.length, 1, "'any' on 'AbortSignal'");
    const given = [...signals];
    if (!given.every((signal) => isSignal(signal))) {
      throw new TypeError("Failed to execute 'any' on 'AbortSignal': member is not of type AbortSignal.");
    }
    const result = new AbortSignal(OWN);
    const aborted = given.find((signal) => signal.#aborted);
    if (aborted) result.#abort(aborted.#reason);
    else for (const signal of given) follow(signal, () => result.#abort(signal.#reason));
    return result;
  }

  /** With the timers that the app has: where they are refused, so is this. */
  static timeout(milliseconds: unknown): AbortSignal {
    requireArguments(arguments.length, 1, "'timeout' on 'AbortSignal'");
    const delay = Number(milliseconds);
    if (!(Math.trunc(delay) >= 0 && delay <= Number.MAX_SAFE_INTEGER)) {
      throw new TypeError(
        "Failed to execute 'timeout' on 'AbortSignal': Value is outside the 'unsigned long long' range.",
      );
    }
    const signal = new AbortSignal(OWN);
    setTimeout(() => {
      signal.#abort(new DOMException("The operation was aborted due to timeout", "TimeoutError"));
    }, Math.trunc(delay));
    return signal;
  }

  get aborted(): boolean {
    return this.#aborted;
  }

  get reason(): unknown {
    return this.#reason;
  }

  throwIfAborted(): void {
    if (this.#aborted) throw this.#reason;
  }

  get onabort(): Handler {
    return this.#onabort;
  }

  set onabort(handler: unknown) {
    const isHandler = typeof handler === "function" || (typeof handler === "object" && handler !== null);
    this.#onabort = isHandler ? (handler as Handler) : null;
    if (!isHandler || this.#listens) return;
    this.#listens = true;
    // Its place among the listeners is that of the first handler.
    super.addEventListener("abort", (event) => {
      const { onabort } = this;
      if (typeof onabort === "function") Reflect.apply(onabort, this, [event]);
    });
  }

  #abort(reason: unknown): void {
    if (this.#aborted) return;
    this.#aborted = true;
    this.#reason = reason === undefined ? new DOMException("This operation was aborted", "AbortError") : reason;
    const algorithms = this.#algorithms;
    this.#algorithms = [];
    for (const algorithm of algorithms) algorithm();
    fire(this, "abort");
  }
}

export class AbortController {
  readonly #signal = new AbortSignal(OWN);

  get signal(): AbortSignal {
    return this.#signal;
  }

  abort(reason?: unknown): void {
    abort(this.#signal, reason);
  }
}

defineInterface(AbortSignal, "AbortSignal");
defineInterface(AbortController, "AbortController");
