/**
 * The committed data of one deployment: documents and files of every component.
 *
 * It lives outside the vm context that runs the app's code, so a new push
 * replaces the code and finds the same data.
 */

import { TransactionLock } from "./transaction_lock.ts";

/** A document as convex-test stores it; opaque to the host. */
export type StoredDocument = Readonly<Record<string, unknown>>;

/** The tables that a transaction wrote, and the documents it left in them. */
export interface Commit {
  readonly ts: bigint;
  readonly writes: WriteSet;
}

export interface Write {
  readonly componentPath: string;
  readonly table: string;
  readonly id: string;
  /** `null` when the document was removed. */
  readonly document: StoredDocument | null;
}

/** What a query read: the unit by which commits are matched to subscriptions. */
export class ReadSet {
  readonly #tables = new Set<string>();
  #everything = false;

  add(componentPath: string, table: string): void {
    this.#tables.add(tableKey(componentPath, table));
  }

  /** For queries whose reads are not tracked (system functions). */
  addEverything(): void {
    this.#everything = true;
  }

  intersects(writes: WriteSet): boolean {
    if (this.#everything) return writes.size > 0;
    for (const key of writes.tableKeys()) if (this.#tables.has(key)) return true;
    return false;
  }
}

/** What one commit wrote. */
export class WriteSet {
  readonly #keys = new Set<string>();
  readonly #writes: Write[] = [];

  add(write: Write): void {
    this.#keys.add(tableKey(write.componentPath, write.table));
    this.#writes.push(write);
  }

  get size(): number {
    return this.#writes.length;
  }

  tableKeys(): Iterable<string> {
    return this.#keys;
  }

  [Symbol.iterator](): Iterator<Write> {
    return this.#writes[Symbol.iterator]();
  }
}

function tableKey(componentPath: string, table: string): string {
  return `${componentPath}|${table}`;
}

const FIRST_DOCUMENT_NUMBER = 10_000;

/** Committed documents and files of one component. */
export class ComponentData {
  readonly files = new Map<string, Blob>();
  lastCreationTime = 0;
  readonly #path: string;
  readonly #store: DataStore;
  readonly #tables = new Map<string, Map<string, StoredDocument>>();
  readonly #tableOfId = new Map<string, string>();
  #nextDocumentNumber = FIRST_DOCUMENT_NUMBER;

  constructor(path: string, store: DataStore) {
    this.#path = path;
    this.#store = store;
  }

  get(id: string): StoredDocument | undefined {
    const table = this.#tableOfId.get(id);
    return table === undefined ? undefined : this.#tables.get(table)?.get(id);
  }

  /** Null for what is no document. */
  tableOf(id: string): string | null {
    return this.#tableOfId.get(id) ?? null;
  }

  put(id: string, table: string, document: StoredDocument): void {
    let documents = this.#tables.get(table);
    if (!documents) this.#tables.set(table, (documents = new Map<string, StoredDocument>()));
    documents.set(id, document);
    this.#tableOfId.set(id, table);
    this.#store.recordWrite({ componentPath: this.#path, table, id, document });
  }

  remove(id: string, table: string): void {
    this.#tables.get(table)?.delete(id);
    this.#tableOfId.delete(id);
    this.#store.recordWrite({ componentPath: this.#path, table, id, document: null });
  }

  idsOf(table: string): Iterable<string> {
    return this.#tables.get(table)?.keys() ?? [];
  }

  tableNames(): string[] {
    return [...this.#tables.keys()];
  }

  documentCount(table: string): number {
    return this.#tables.get(table)?.size ?? 0;
  }

  nextDocumentNumber(): number {
    return this.#nextDocumentNumber++;
  }
}

/** All components' data, the commit clock, and the one lock of all transactions. */
export class DataStore {
  readonly lock = new TransactionLock();
  #lastCommitTs = BigInt(Date.now()) * 1_000_000n;
  #pendingWrites = new WriteSet();
  readonly #components = new Map<string, ComponentData>();
  readonly #listeners = new Set<(commit: Commit) => void>();

  /** Unix nanoseconds of the latest commit; never goes back. */
  get lastCommitTs(): bigint {
    return this.#lastCommitTs;
  }

  component(path: string): ComponentData {
    let data = this.#components.get(path);
    if (!data) this.#components.set(path, (data = new ComponentData(path, this)));
    return data;
  }

  hasComponent(path: string): boolean {
    return this.#components.has(path);
  }

  recordWrite(write: Write): void {
    this.#pendingWrites.add(write);
  }

  /** Ends the current transaction: all writes recorded since the last commit become visible at `ts`. */
  commit(ts: bigint): void {
    const commit: Commit = { ts, writes: this.#pendingWrites };
    this.#pendingWrites = new WriteSet();
    this.#lastCommitTs = ts;
    for (const listener of this.#listeners) listener(commit);
  }

  onCommit(listener: (commit: Commit) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
