/**
 * `URLSearchParams`. The host reads and writes the encoding.
 *
 * get-convex/convex-backend npm-packages/udf-runtime/src/00_url.ts
 */

import { asked } from "../host.ts";
import { usvString } from "./texts.ts";

/** A name with its value. */
export type Pair = [name: string, value: string];

/** What a `URL` does with the parameters that it shares with the app. */
export interface Owned {
  /** Takes over the parameters of a URL's query, which begins with "?" unless it is empty. */
  replace(query: string): void;
}

type Init = Iterable<Iterable<string>> | Readonly<Record<string, string>> | string;

/** Goes on with the parameters as they are by then: there may be others after each step. */
class ParamsIterator<T> {
  readonly #pairs: () => readonly Pair[];
  readonly #select: (pair: Pair) => T;
  #at = 0;

  constructor(pairs: () => readonly Pair[], select: (pair: Pair) => T) {
    this.#pairs = pairs;
    this.#select = select;
  }

  next(): IteratorResult<T> {
    const pair = this.#pairs()[this.#at++];
    return pair === undefined ? { value: undefined, done: true } : { value: this.#select(pair), done: false };
  }
}
Object.setPrototypeOf(ParamsIterator.prototype, Object.getPrototypeOf(Object.getPrototypeOf([].values())) as object);
Object.defineProperty(ParamsIterator.prototype, Symbol.toStringTag, {
  value: "URLSearchParams Iterator",
  configurable: true,
});

/** Parameters with the way to replace them, for a URL; `changed` gets their query, without "?". */
export let ownedParams: (changed: (query: string) => void) => readonly [URLSearchParams, Owned];

export class URLSearchParams {
  #pairs: Pair[] = [];
  #changed: ((query: string) => void) | undefined;

  constructor(init?: Init | URLSearchParams) {
    if (init === undefined) return;
    if (typeof init === "string") this.#pairs = pairsOf(init);
    else this.#pairs = isIterable(init) ? pairsOfSequence(init) : pairsOfRecord(init);
  }

  static {
    ownedParams = (changed) => {
      const params = new URLSearchParams();
      params.#changed = changed;
      return [params, { replace: (query) => void (params.#pairs = pairsOf(query)) }];
    };
  }

  get size(): number {
    return this.#pairs.length;
  }

  append(name: string, value: string): void {
    this.#change([...this.#pairs, [usvString(name), usvString(value)]]);
  }

  delete(name: string, value?: string): void {
    const matches = matcher(name, value);
    this.#change(this.#pairs.filter((pair) => !matches(pair)));
  }

  get(name: string): string | null {
    return this.#pairs.find(matcher(name))?.[1] ?? null;
  }

  getAll(name: string): string[] {
    return this.#pairs.filter(matcher(name)).map(([, value]) => value);
  }

  has(name: string, value?: string): boolean {
    return this.#pairs.some(matcher(name, value));
  }

  set(name: string, value: string): void {
    const replacement: Pair = [usvString(name), usvString(value)];
    const at = this.#pairs.findIndex(matcher(name));
    if (at === -1) return this.#change([...this.#pairs, replacement]);
    const others = this.#pairs.slice(at + 1).filter(([other]) => other !== replacement[0]);
    this.#change([...this.#pairs.slice(0, at), replacement, ...others]);
  }

  sort(): void {
    this.#change(this.#pairs.toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
  }

  forEach(callback: (value: string, name: string, parent: URLSearchParams) => void, thisArg?: unknown): void {
    for (const [name, value] of this) Reflect.apply(callback, thisArg, [value, name, this]);
  }

  entries(): IterableIterator<Pair> {
    return this.#iterator(([name, value]) => [name, value]);
  }

  keys(): IterableIterator<string> {
    return this.#iterator(([name]) => name);
  }

  values(): IterableIterator<string> {
    return this.#iterator(([, value]) => value);
  }

  [Symbol.iterator](): IterableIterator<Pair> {
    return this.#iterator(([name, value]) => [name, value]);
  }

  toString(): string {
    return queryOf(this.#pairs);
  }

  toJSON(): object {
    return {};
  }

  #iterator<T>(select: (pair: Pair) => T): IterableIterator<T> {
    return new ParamsIterator(() => this.#pairs, select) as Partial<IterableIterator<T>> as IterableIterator<T>;
  }

  #change(pairs: Pair[]): void {
    this.#pairs = pairs;
    this.#changed?.(queryOf(pairs));
  }
}
Object.defineProperty(URLSearchParams.prototype, Symbol.toStringTag, { value: "URLSearchParams", configurable: true });

/** The parameters of a query or of a form's text. */
export function pairsOf(query: string): Pair[] {
  const text = usvString(query);
  return JSON.parse(asked(({ url }) => url.pairs(text))) as Pair[];
}

function queryOf(pairs: readonly Pair[]): string {
  const text = JSON.stringify(pairs);
  return asked(({ url }) => url.query(text));
}

function matcher(name: string, value?: string): (pair: Pair) => boolean {
  const wanted = usvString(name);
  const wantedValue = value === undefined ? undefined : usvString(value);
  return ([ownName, ownValue]) => ownName === wanted && (wantedValue === undefined || ownValue === wantedValue);
}

function isIterable(value: unknown): value is Iterable<Iterable<string>> {
  return value !== null && typeof (value as Partial<Iterable<unknown>>)[Symbol.iterator] === "function";
}

function pairsOfSequence(sequence: Iterable<Iterable<string>>): Pair[] {
  return Array.from(sequence, (item) => {
    const [name, value, ...others] = [...item];
    if (name === undefined || value === undefined || others.length > 0) {
      throw new TypeError(
        "Failed to construct 'URLSearchParams': Failed to construct 'URLSearchParams': Sequence initializer must only contain pair elements",
      );
    }
    return [usvString(name), usvString(value)];
  });
}

// Names that differ in lone surrogates alone are one.
function pairsOfRecord(record: object): Pair[] {
  const pairs = new Map<string, string>();
  for (const name in record) pairs.set(usvString(name), usvString((record as Record<string, unknown>)[name]));
  return [...pairs];
}
