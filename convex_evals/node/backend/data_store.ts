/**
 * The committed data of one deployment: documents and files of every component.
 *
 * It lives outside the vm context that runs the app's code, so a new push
 * replaces the code and finds the same data.
 */

import { PrefixIndexes } from "./prefix_indexes.ts";
import { TransactionClock } from "./transaction_clock.ts";
import { TransactionLock } from "./transaction_lock.ts";

const FILE_TABLE = "_storage";

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

/** Where a store's data lie beside the memory. */
export interface Keeper {
  /** Puts what is about to be committed onto the disk; where it throws, nothing is committed. */
  commit(ts: bigint, writes: readonly Write[]): void;
  keepFile(componentPath: string, storageId: string, content: Uint8Array): void;
  openFile(componentPath: string, storageId: string, type: string): Promise<Blob>;
  removeFile(componentPath: string, storageId: string): void;
}

/** Committed documents and files of one component. */
export class ComponentData {
  readonly files = new Map<string, Blob>();
  readonly #path: string;
  readonly #store: DataStore;
  readonly #tables = new Map<string, Map<string, StoredDocument>>();
  readonly #tableOfId = new Map<string, string>();
  readonly #prefixes = new PrefixIndexes();

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
    this.#prefixes.replace(table, id, documents.get(id), document);
    documents.set(id, document);
    this.#tableOfId.set(id, table);
    this.#store.recordWrite({ componentPath: this.#path, table, id, document });
  }

  remove(id: string, table: string): void {
    const documents = this.#tables.get(table);
    this.#prefixes.replace(table, id, documents?.get(id), undefined);
    documents?.delete(id);
    this.#tableOfId.delete(id);
    if (table === FILE_TABLE) this.files.delete(id);
    this.#store.recordWrite({ componentPath: this.#path, table, id, document: null });
  }

  /** The content that a file needs on the disk, or null where files are only in memory. */
  async contentToKeep(blob: Blob): Promise<Uint8Array | null> {
    return this.#store.keeper ? new Uint8Array(await blob.arrayBuffer()) : null;
  }

  /** Stores the content of a file whose document is about to be committed. */
  storeFile(storageId: string, blob: Blob, content: Uint8Array | null): void {
    this.files.set(storageId, blob);
    const { keeper } = this.#store;
    if (!keeper || !content) return;
    keeper.keepFile(this.#path, storageId, content);
    // Read from the disk from then on.
    void keeper.openFile(this.#path, storageId, blob.type).then(
      (kept) => this.files.has(storageId) && this.files.set(storageId, kept),
      () => {},
    );
  }

  idsOf(table: string): Iterable<string> {
    return this.#tables.get(table)?.keys() ?? [];
  }

  /** Those documents of a table whose `fields` (paths) have these texts; found without a scan. */
  idsWhere(table: string, fields: readonly string[], values: readonly string[]): Iterable<string> {
    return this.#prefixes.find(table, fields, values, () => this.#tables.get(table) ?? []);
  }

  tableNames(): string[] {
    return [...this.#tables.keys()];
  }

  documentCount(table: string): number {
    return this.#tables.get(table)?.size ?? 0;
  }
}

/** All components' data, the commit clock, and the one lock of all transactions. */
export class DataStore {
  readonly lock = new TransactionLock();
  readonly clock = new TransactionClock();
  keeper: Keeper | null = null;
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

  /** All documents, or those of the tables called `table`. */
  *documents(table?: string): Iterable<Write> {
    for (const [componentPath, data] of this.#components) {
      for (const name of table === undefined ? data.tableNames() : [table]) {
        for (const id of data.idsOf(name)) yield { componentPath, table: name, id, document: data.get(id) ?? null };
      }
    }
  }

  /** Puts back what was committed before the process started. */
  restore({ componentPath, table, id, document }: Write): void {
    const data = this.component(componentPath);
    if (document === null) data.remove(id, table);
    else {
      data.put(id, table, document);
      this.clock.passed(document["_creationTime"] as number);
    }
    this.#pendingWrites = new WriteSet();
  }

  restoreTs(ts: bigint): void {
    if (ts > this.#lastCommitTs) this.#lastCommitTs = ts;
  }

  recordWrite(write: Write): void {
    this.#pendingWrites.add(write);
  }

  /** Puts what is about to be committed onto the disk, where there is one for it; what cannot be kept is not committed. */
  keep(ts: bigint, writes: () => Write[]): void {
    if (this.keeper) this.keeper.commit(ts, writes());
  }

  /** Ends the current transaction: all writes recorded since the last commit become visible at `ts`. */
  commit(ts: bigint): void {
    const commit: Commit = { ts, writes: this.#pendingWrites };
    this.#pendingWrites = new WriteSet();
    this.#lastCommitTs = ts;
    if (this.keeper) this.#removeFiles(commit, this.keeper);
    for (const listener of this.#listeners) listener(commit);
  }

  #removeFiles({ writes }: Commit, keeper: Keeper): void {
    for (const { componentPath, table, id, document } of writes) {
      if (table === FILE_TABLE && document === null) keeper.removeFile(componentPath, id);
    }
  }

  onCommit(listener: (commit: Commit) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
