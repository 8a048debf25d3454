/** Function handles, for the life of the deployment: they are random, so that none can be guessed. */

import { randomBytes } from "node:crypto";

const PREFIX = "function://";

/** Finds functions, which are texts here, by their handles. */
export class FunctionHandles {
  readonly #handles = new Map<string, string>();
  readonly #functions = new Map<string, string>();
  readonly #onNew: (fn: string, handle: string) => void;

  /** `known`: handles that functions have already. */
  constructor(known: Iterable<readonly [string, string]> = [], onNew: (fn: string, handle: string) => void = () => {}) {
    this.#onNew = onNew;
    for (const [fn, handle] of known) this.#set(fn, handle);
  }

  /** The handle of a function; it stays the same across pushes. */
  handleOf(fn: string): string {
    const known = this.#handles.get(fn);
    if (known !== undefined) return known;
    const handle = PREFIX + randomBytes(16).toString("hex");
    this.#onNew(fn, handle);
    this.#set(fn, handle);
    return handle;
  }

  /** Null for what is no handle. */
  functionOf(handle: string): string | null {
    return this.#functions.get(handle) ?? null;
  }

  #set(fn: string, handle: string): void {
    this.#handles.set(fn, handle);
    this.#functions.set(handle, fn);
  }
}
