/**
 * Finds the documents of a table by the texts of some fields, as most ranges of indexes begin: `eq` on ids and names.
 *
 * An index is made when it is first asked for, and kept up from then on.
 */

type Document = Readonly<Record<string, unknown>>;

interface PrefixIndex {
  readonly fields: readonly (readonly string[])[];
  readonly ids: Map<string, Set<string>>;
}

const NOTHING: ReadonlySet<string> = new Set();

export class PrefixIndexes {
  readonly #byTable = new Map<string, Map<string, PrefixIndex>>();

  /** Ids of the documents whose `fields` have `values`; `documents` gives all of the table. */
  find(
    table: string,
    fields: readonly string[],
    values: readonly string[],
    documents: () => Iterable<readonly [string, Document]>,
  ): Iterable<string> {
    let indexes = this.#byTable.get(table);
    if (!indexes) this.#byTable.set(table, (indexes = new Map<string, PrefixIndex>()));
    const name = JSON.stringify(fields);
    let index = indexes.get(name);
    if (!index) {
      index = { fields: fields.map((field) => field.split(".")), ids: new Map() };
      for (const [id, document] of documents()) add(index, id, document);
      indexes.set(name, index);
    }
    return index.ids.get(JSON.stringify(values)) ?? NOTHING;
  }

  /** Follows a write; undefined stands for no document. */
  replace(table: string, id: string, before: Document | undefined, after: Document | undefined): void {
    for (const index of this.#byTable.get(table)?.values() ?? []) {
      const was = before && keyOf(index, before);
      const is = after && keyOf(index, after);
      if (was === is) continue;
      if (was !== undefined) {
        const ids = index.ids.get(was);
        ids?.delete(id);
        if (ids?.size === 0) index.ids.delete(was);
      }
      if (after) add(index, id, after);
    }
  }
}

function add(index: PrefixIndex, id: string, document: Document): void {
  const key = keyOf(index, document);
  if (key === undefined) return;
  const ids = index.ids.get(key);
  if (ids) ids.add(id);
  else index.ids.set(key, new Set([id]));
}

/** Undefined for a document that has no text in one of the fields. */
function keyOf({ fields }: PrefixIndex, document: Document): string | undefined {
  const values: unknown[] = [];
  for (const path of fields) {
    let value: unknown = document;
    for (const name of path) {
      if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
      value = (value as Record<string, unknown>)[name];
    }
    if (typeof value !== "string") return undefined;
    values.push(value);
  }
  return JSON.stringify(values);
}
