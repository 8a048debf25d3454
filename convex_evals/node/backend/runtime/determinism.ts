/** Globals of a query or mutation: the clock stands still, chance is seeded. */

import { host } from "embedded:host";

const RealDate = Date;
const RealMath = Math;

/** Overrides for one execution. */
export function deterministicGlobals(): { Date: DateConstructor; Math: Math } {
  return { Date: frozenDate(RealDate.now()), Math: seededMath(host.randomSeed()) };
}

function frozenDate(now: number): DateConstructor {
  function FrozenDate(this: unknown, ...args: unknown[]): Date | string {
    if (new.target === undefined) return new RealDate(now).toString();
    const construct = args.length === 0 ? [now] : args;
    return Reflect.construct(RealDate, construct, new.target === FrozenDate ? RealDate : new.target) as Date;
  }
  // The prototype is shared, so that `instanceof Date` holds for dates made
  // elsewhere (module scope, arguments of the runtime).
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

function seededMath(seed: number): Math {
  let state = seed >>> 0;
  const math = Object.create(null) as Record<string | symbol, unknown>;
  Object.defineProperties(math, Object.getOwnPropertyDescriptors(RealMath));
  // mulberry32: 32 bits of state are plenty for one execution.
  const random = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = RealMath.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + RealMath.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  Object.defineProperty(math, "random", { value: random, writable: true, configurable: true });
  return Object.setPrototypeOf(math, Object.prototype) as Math;
}
