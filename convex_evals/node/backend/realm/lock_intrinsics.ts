/**
 * Keeps a realm's own objects as they are: whoever shares the realm with code of ours cannot change what that code calls.
 *
 * Objects that inherit from them may still have properties of the same names.
 */

const { defineProperty, freeze, getOwnPropertyDescriptor, getPrototypeOf } = Object;
const { ownKeys } = Reflect;

// What classes and objects of an app set by assignment, though they inherit it.
const OVERRIDDEN: ReadonlySet<string | symbol> = new Set(["toJSON", "toLocaleString", "toString", "valueOf"]);
const OVERRIDDEN_IN_ERRORS: ReadonlySet<string | symbol> = new Set([
  ...OVERRIDDEN,
  "cause",
  "message",
  "name",
  "stack",
]);
type Owner = Record<string | symbol, unknown>;

function isObject(value: unknown): value is Owner {
  return (typeof value === "object" && value !== null) || typeof value === "function";
}

/** Locks `roots` and all that can be reached from them, but for `spared` and what can be reached through these alone. */
export function lock(roots: Iterable<unknown>, spared: Iterable<unknown>): void {
  const seen = new Set<unknown>(spared);
  const waiting: unknown[] = [...roots];
  while (waiting.length > 0) {
    const object = waiting.pop();
    if (!isObject(object) || seen.has(object)) continue;
    seen.add(object);
    waiting.push(getPrototypeOf(object));
    const keys = ownKeys(object);
    // Most are functions with a length and a name, which lead nowhere.
    if (keys.length === 2 && typeof object === "function") {
      freeze(object);
      continue;
    }
    for (const key of keys) {
      const property = getOwnPropertyDescriptor(object, key)!;
      waiting.push(property.value, property.get, property.set);
      makeOverridable(object, key, property);
    }
    freeze(object);
  }
}

function makeOverridable(object: Owner, key: string | symbol, property: PropertyDescriptor): void {
  if (!property.configurable || !property.writable || !isOverridden(object, key, property.value)) return;
  defineProperty(object, key, overridable(object, key, property));
}

function isOverridden(object: Owner, key: string | symbol, value: unknown): boolean {
  if (typeof object === "function") return false;
  // V8 looks at those of arrays, promises and their like each time that it makes one, and is quick while they are plain.
  if (key === "constructor") return isObject(value) && !(Symbol.species in value);
  if (object === Object.prototype) return typeof key === "string";
  return (isErrorPrototype(object) ? OVERRIDDEN_IN_ERRORS : OVERRIDDEN).has(key);
}

function isErrorPrototype(object: object): boolean {
  return object === Error.prototype || Object.prototype.isPrototypeOf.call(Error.prototype, object);
}

/** Reads as before; to assign it gives what inherits it a property of its own, as if this one could be written. */
function overridable(
  owner: Owner,
  key: string | symbol,
  { value, enumerable = false }: PropertyDescriptor,
): PropertyDescriptor {
  const { get, set } = {
    get: () => value as unknown,
    set(this: unknown, other: unknown) {
      if (isObject(this) && this !== owner) {
        defineProperty(this, key, { value: other, writable: true, enumerable: true, configurable: true });
      }
    },
  };
  return { get: freeze(get), set: freeze(set), enumerable, configurable: false };
}

const NAMES = [
  "AggregateError",
  "Array",
  "Atomics",
  "BigInt",
  "Boolean",
  "Date",
  "Error",
  "EvalError",
  "FinalizationRegistry",
  "Function",
  "Iterator",
  "JSON",
  "Map",
  "Number",
  "Object",
  "Promise",
  "Proxy",
  "RangeError",
  "ReferenceError",
  "Reflect",
  "RegExp",
  "Set",
  "String",
  "SuppressedError",
  "Symbol",
  "SyntaxError",
  "TypeError",
  "URIError",
  "WeakMap",
  "WeakRef",
  "WeakSet",
] as const;

/** The language's own objects, those without a name included. */
export function intrinsics(): unknown[] {
  const named = NAMES.map((name) => (globalThis as Record<string, unknown>)[name]);
  const examples: unknown[] = [
    [][Symbol.iterator](),
    new Map().entries(),
    new Set().entries(),
    ""[Symbol.iterator](),
    "".matchAll(/x/g),
    function* () {},
    async function* () {},
    async () => {},
  ];
  return [...named, ...examples.map((example) => getPrototypeOf(example as object) as unknown)];
}
