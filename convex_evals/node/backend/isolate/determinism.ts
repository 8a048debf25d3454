/**
 * Globals of a query or mutation: the clock stands still, chance is seeded, and
 * nothing reaches outside.
 * get-convex/convex-backend crates/isolate/src/environment/udf/mod.rs
 */

const RealDate = Date;

export type Random = () => number;

/** What replaces the globals of the same names; `Math` gets a `random` that is seeded. */
export function deterministicGlobals(random: Random): Record<string, unknown> {
  Math.random = random;
  return {
    Date: frozenDate(RealDate.now()),
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

function frozenDate(now: number): DateConstructor {
  function FrozenDate(this: unknown, ...args: unknown[]): Date | string {
    if (new.target === undefined) return new RealDate(now).toString();
    const construct = args.length === 0 ? [now] : args;
    return Reflect.construct(RealDate, construct, new.target === FrozenDate ? RealDate : new.target) as Date;
  }
  Object.defineProperty(RealDate.prototype, "constructor", { value: FrozenDate, writable: true, configurable: true });
  Object.defineProperties(FrozenDate, {
    prototype: { value: RealDate.prototype },
    name: { value: "Date" },
    length: { value: RealDate.length },
    now: { value: () => now, writable: true, configurable: true },
    parse: { value: RealDate.parse, writable: true, configurable: true },
    UTC: { value: RealDate.UTC, writable: true, configurable: true },
  });
  return FrozenDate as unknown as DateConstructor;
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
