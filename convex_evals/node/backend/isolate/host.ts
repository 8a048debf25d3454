/**
 * What a context may ask of the host, for code that is loaded before the app's.
 *
 * No value of the host may ever reach the app: an object of it would be shared by all calls, and a function or an error of it
 * leads to the host's classes. So what is asked here takes and gives texts, numbers and booleans, and writes bytes into arrays
 * that the context made. Callers keep the host's functions in a variable or a private field, call them directly, and
 * hand none of them, nor what they return, to anything that the app's code can replace (`bind`, `call`, promises, collections).
 */

import type { AsyncHost, Host } from "./types.ts";

let given: Host | undefined;

/** Has to be called once, before anything else. */
export function setHost(host: Host): void {
  given = host;
}

/**
 * Asks the host for something: `ask` gets its functions. What the host throws never arrives; where the stack is used up in
 * it, that is the context's own error.
 */
export function asked<T extends string | number | boolean | null | undefined | void>(ask: (host: Host) => T): T {
  try {
    return ask(given!);
  } catch {
    throw new RangeError("Maximum call stack size exceeded");
  }
}

/** The host's way to follow a call through its promises. Its objects belong into private fields. */
export function asyncHost(): AsyncHost {
  return given!.async;
}
