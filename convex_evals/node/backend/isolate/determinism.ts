/**
 * Globals of a query or mutation: the clock stands still, chance is seeded, and
 * nothing reaches outside.
 * get-convex/convex-backend crates/isolate/src/environment/udf/mod.rs
 */

const RealDate = Date;

const realCrypto = globalThis.crypto;

type Random = () => number;

/** What replaces the globals of the same names; `Math` gets a `random` that is seeded. */
export function deterministicGlobals(seed: number): Record<string, unknown> {
  const random = seededRandom(seed);
  Math.random = random;
  return {
    Date: frozenDate(RealDate.now()),
    crypto: seededCrypto(random),
    performance: { now: () => 0, timeOrigin: RealDate.now() },
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

const BYTES_PER_CALL = 65_536;
// Operations that draw random bytes of their own.
const RANDOM_ALGORITHMS = new Set(["ECDSA", "RSA-PSS"]);

// Random values come from the seed; keys and signatures that need real
// randomness are for actions.
function seededCrypto(random: Random): Crypto {
  const fill = <T extends ArrayBufferView | null>(view: T): T => {
    if (view === null) return view;
    if (view.byteLength > BYTES_PER_CALL) {
      throw new DOMException(`The requested length exceeds ${BYTES_PER_CALL} bytes`, "QuotaExceededError");
    }
    const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
    for (let at = 0; at < bytes.length; at++) bytes[at] = random() * 256;
    return view;
  };
  const randomUUID = (): string => {
    const bytes = fill(new Uint8Array(16));
    bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
    bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
    const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
  };
  const subtle = new Proxy(realCrypto.subtle, {
    get: (target, name) => {
      const method: unknown = Reflect.get(target, name, target);
      if (typeof method !== "function") return method;
      return (...args: unknown[]) => {
        const algorithm = typeof args[0] === "string" ? args[0] : (args[0] as { name?: string } | undefined)?.name;
        const isRandom = name === "generateKey" || (name === "sign" && RANDOM_ALGORITHMS.has(String(algorithm)));
        if (isRandom || (name === "encrypt" && algorithm === "RSA-OAEP")) notAllowed("cryptographic randomness")();
        return Reflect.apply(method, target, args) as unknown;
      };
    },
  });
  return { getRandomValues: fill, randomUUID, subtle } as Crypto;
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

function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  // mulberry32: 32 bits of state are plenty for one execution.
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
