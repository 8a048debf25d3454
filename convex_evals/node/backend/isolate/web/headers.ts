/**
 * `Headers`: a list, in the order in which it was made. Convex neither sorts nor joins what is listed twice.
 *
 * get-convex/convex-backend npm-packages/udf-runtime/src/20_headers.ts
 */

import type { Pair } from "./url_search_params.ts";

export type HeadersInit = readonly (readonly string[])[] | Readonly<Record<string, string>> | Headers;

// https://httpwg.org/specs/rfc9110.html#tokens
const NAME = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/;

/** The headers as they are, whatever the app has put over their methods. */
export let pairsOfHeaders: (headers: Headers) => readonly Pair[];

export class Headers {
  #pairs: readonly Pair[] = [];

  static {
    pairsOfHeaders = (headers) => headers.#pairs;
  }

  constructor(init?: HeadersInit | null) {
    if (init === undefined || init === null) return;
    if (typeof init === "object" && #pairs in init) this.#pairs = init.#pairs;
    else for (const [name, value] of given(init)) this.#append(normalized(name, "append"), value);
  }

  append(name: string, value: string): void {
    this.#append(normalized(name, "append"), value);
  }

  delete(name: string): void {
    const unwanted = normalized(name, "delete");
    this.#pairs = this.#pairs.filter(([other]) => other !== unwanted);
  }

  get(name: string): string | null {
    const values = this.#valuesOf(normalized(name, "get"));
    return values.length === 0 ? null : values.join(", ");
  }

  getSetCookie(): string[] {
    return this.#valuesOf("set-cookie");
  }

  has(name: string): boolean {
    const wanted = normalized(name, "has");
    return this.#pairs.some(([other]) => other === wanted);
  }

  set(name: string, value: string): void {
    const replaced = normalized(name, "set");
    this.#pairs = this.#pairs.filter(([other]) => other !== replaced);
    this.#append(replaced, value);
  }

  forEach(callback: (value: string, name: string, parent: Headers) => void, thisArg?: unknown): void {
    for (const [name, value] of this.#pairs) Reflect.apply(callback, thisArg, [value, name, this]);
  }

  entries(): IterableIterator<Pair> {
    return this.#pairs.map(([name, value]): Pair => [name, value]).values();
  }

  keys(): IterableIterator<string> {
    return this.#pairs.map(([name]) => name).values();
  }

  values(): IterableIterator<string> {
    return this.#pairs.map(([, value]) => value).values();
  }

  [Symbol.iterator](): IterableIterator<Pair> {
    return this.entries();
  }

  get [Symbol.toStringTag](): string {
    return "Headers";
  }

  #append(name: string, value: unknown): void {
    this.#pairs = [...this.#pairs, [name, `${value as string}`]];
  }

  #valuesOf(wanted: string): string[] {
    return this.#pairs.filter(([name]) => name === wanted).map(([, value]) => value);
  }
}

function given(init: Exclude<HeadersInit, Headers>): readonly (readonly [name: string, value: string])[] {
  if (!isList(init)) {
    const pairs: [string, string][] = [];
    // Inherited ones, too.
    for (const name in init) pairs.push([name, init[name]!]);
    return pairs;
  }
  return init.map((pair) => {
    if (pair.length !== 2) throw new TypeError("Failed to construct 'Headers': Invalid value");
    return [pair[0]!, pair[1]!];
  });
}

function isList(value: unknown): value is readonly (readonly string[])[] {
  return Array.isArray(value);
}

function normalized(name: string, method: string): string {
  const lower = `${name}`.toLowerCase();
  if (!NAME.test(lower)) throw new TypeError(`Failed to execute '${method}' on 'Headers': Invalid name`);
  return lower;
}
