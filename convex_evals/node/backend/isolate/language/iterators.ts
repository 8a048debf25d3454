/** Several iterables as one. https://tc39.es/ecma262/#sec-iterator.concat */

import { uncurried } from "./uncurried.ts";

interface Opened {
  readonly iterable: object;
  readonly open: () => unknown;
}

/** The language's `Iterator`, whose type the libraries of TypeScript do not have here. */
export const { Iterator: Iterators } = globalThis as unknown as {
  readonly Iterator: { readonly prototype: { flatMap(mapper: (item: Opened) => object): object } };
};

const { iterator } = Symbol;
const { apply } = Reflect;
const flatMap = uncurried(Iterators.prototype.flatMap);

export const concatenation = {
  concat(...iterables: readonly unknown[]): object {
    // An iterator helper like any other: it takes one iterator after the other, as it does for `flatMap`.
    const items: Opened[] = [];
    for (let at = 0; at < iterables.length; at++) items[at] = opened(iterables[at]);
    let next = 0;
    const source = { __proto__: null, next: () => taken(items, next++) };
    return flatMap(source, ({ iterable, open }) => through(apply(open, iterable, [])));
  },
};

function opened(iterable: unknown): Opened {
  const open = isObject(iterable) ? (iterable as { [iterator]?: unknown })[iterator] : undefined;
  if (typeof open !== "function") throw new TypeError(`${typeof iterable} is not iterable`);
  return { iterable: iterable as object, open: open as () => unknown };
}

function taken(items: readonly Opened[], at: number): { value: Opened | undefined; done: boolean } {
  return { value: items[at], done: at >= items.length };
}

/** The same iterator, which `flatMap` takes for no iterable. */
function through(iterated: unknown): object {
  if (!isObject(iterated)) throw new TypeError(`${typeof iterated} is not an object`);
  const { next } = iterated as { next: () => unknown };
  return {
    __proto__: null,
    next: () => apply(next, iterated, []),
    return: () => {
      const { return: close } = iterated as { return?: (() => unknown) | null };
      return close === undefined || close === null ? {} : apply(close, iterated, []);
    },
  };
}

function isObject(value: unknown): value is object {
  return (typeof value === "object" && value !== null) || typeof value === "function";
}
