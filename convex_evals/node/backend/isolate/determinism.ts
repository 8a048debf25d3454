/**
 * Globals of a query or mutation: chance is seeded, and nothing reaches outside.
 * get-convex/convex-backend crates/isolate/src/environment/udf/mod.rs
 */

export type Random = () => number;

/** What replaces the globals of the same names. */
export function deterministicGlobals(): Record<string, unknown> {
  return {
    fetch: async () => notAllowed("fetch()")(),
    setTimeout: notAllowed("setTimeout"),
    setInterval: notAllowed("setInterval"),
    clearTimeout: () => {},
    clearInterval: () => {},
  };
}

/** A function that may not be used. */
export function notAllowed(what: string): () => never {
  return () => {
    throw new Error(
      `Can't use ${what} in queries and mutations. Please consider using an action. See https://docs.convex.dev/functions/actions for more details.`,
    );
  };
}

/** Chance that is the same for the same seed. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  // mulberry32: 32 bits of state are plenty for one execution.
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
