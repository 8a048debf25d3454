/** Values of maps that are made where they are missing. https://tc39.es/ecma262/#sec-map.prototype.getorinsert */

import { uncurried } from "./uncurried.ts";

interface Collection {
  has(key: unknown): boolean;
  get(key: unknown): unknown;
  set(key: unknown, value: unknown): unknown;
}

type Compute = (key: unknown) => unknown;

const map = methodsOf(Map.prototype);
const weakMap = methodsOf(WeakMap.prototype);
const tried = new WeakMap<object, null>() as unknown as Collection;

export const mapMethods = {
  ...insertingInto(map),
  getOrInsertComputed(this: Collection, key: unknown, callback: unknown): unknown {
    const isKnown = map.has(this, key);
    checkCallable(callback);
    if (isKnown) return map.get(this, key);
    // As the map will have it: -0 is 0.
    const value = callback(key === 0 ? 0 : key);
    map.set(this, key, value);
    return value;
  },
};

export const weakMapMethods = {
  ...insertingInto(weakMap),
  getOrInsertComputed(this: Collection, key: unknown, callback: unknown): unknown {
    const isKnown = weakMap.has(this, key);
    // Throws for what cannot be held weakly.
    if (!isKnown) weakMap.set(tried, key, null);
    checkCallable(callback);
    if (isKnown) return weakMap.get(this, key);
    const value = callback(key);
    weakMap.set(this, key, value);
    return value;
  },
};

interface Methods {
  has(self: Collection, key: unknown): boolean;
  get(self: Collection, key: unknown): unknown;
  set(self: Collection, key: unknown, value: unknown): unknown;
}

function insertingInto({ has, get, set }: Methods): object {
  return {
    getOrInsert(this: Collection, key: unknown, value: unknown): unknown {
      if (has(this, key)) return get(this, key);
      set(this, key, value);
      return value;
    },
  };
}

function methodsOf({ has, get, set }: Collection): Methods {
  return { has: uncurried(has), get: uncurried(get), set: uncurried(set) };
}

function checkCallable(callback: unknown): asserts callback is Compute {
  if (typeof callback !== "function") throw new TypeError(`${typeof callback} is not a function`);
}
