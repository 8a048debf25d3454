/**
 * `FormData`.
 *
 * get-convex/convex-backend npm-packages/udf-runtime/src/21_formdata.ts
 */

import type { Blob } from "./blob.ts";
import { bytesOfBlob, File, typeOfBlob } from "./blob.ts";
import { usvString } from "./texts.ts";

export type Entry = readonly [name: string, value: string | File];

/** The entries as they are, whatever the app has put over the methods; undefined for what is no form. */
export let entriesOfForm: (form: unknown) => readonly Entry[] | undefined;

export class FormData {
  #entries: readonly Entry[] = [];

  static {
    entriesOfForm = (form) =>
      typeof form === "object" && form !== null && #entries in form ? form.#entries : undefined;
  }

  append(name: string, value: string | Blob, filename?: string): void {
    this.#entries = [...this.#entries, entry(name, value, filename)];
  }

  delete(name: string): void {
    const unwanted = usvString(name);
    this.#entries = this.#entries.filter(([other]) => other !== unwanted);
  }

  get(name: string): string | File | null {
    return this.getAll(name)[0] ?? null;
  }

  getAll(name: string): (string | File)[] {
    const wanted = usvString(name);
    return this.#entries.filter(([other]) => other === wanted).map(([, value]) => value);
  }

  has(name: string): boolean {
    const wanted = usvString(name);
    return this.#entries.some(([other]) => other === wanted);
  }

  set(name: string, value: string | Blob, filename?: string): void {
    const added = entry(name, value, filename);
    const at = this.#entries.findIndex(([other]) => other === added[0]);
    const others = this.#entries.filter(([other]) => other !== added[0]);
    // In the place of the first of that name.
    this.#entries = at === -1 ? [...others, added] : [...others.slice(0, at), added, ...others.slice(at)];
  }

  forEach(callback: (value: string | File, name: string, parent: FormData) => void, thisArg?: unknown): void {
    for (const [name, value] of this.#entries) Reflect.apply(callback, thisArg, [value, name, this]);
  }

  *entries(): IterableIterator<[string, string | File]> {
    for (const [name, value] of this.#entries) yield [name, value];
  }

  keys(): IterableIterator<string> {
    return this.#entries.map(([name]) => name).values();
  }

  values(): IterableIterator<string | File> {
    return this.#entries.map(([, value]) => value).values();
  }

  [Symbol.iterator](): IterableIterator<[string, string | File]> {
    return this.entries();
  }

  get [Symbol.toStringTag](): string {
    return "FormData";
  }
}

function entry(name: string, value: unknown, filename?: string): Entry {
  const bytes = bytesOfBlob(value);
  if (!bytes) return [usvString(name), usvString(value)];
  const ownName = value instanceof File ? value.name : "blob";
  const fileName = filename === undefined ? ownName : usvString(filename);
  return [usvString(name), new File([bytes], fileName, { type: typeOfBlob(value) })];
}
