/**
 * The folder that a deployment lives in:
 *
 *     snapshot-N   everything, as it was when log-N was begun
 *     log-N        what has changed since, and log-N+1 what came after that
 *     files/       the content of stored files
 *
 * A snapshot is written beside the running app, and has its name once it is whole; older files go then.
 */

import { createHash } from "node:crypto";
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openAsBlob,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import path from "node:path";
import { setImmediate } from "node:timers/promises";
import type { Write } from "../data_store.ts";
import type { ScheduledJob } from "../runtime_types.ts";
import { written } from "./documents.ts";
import { StorageError, type JournalRecord } from "./journal.ts";
import { framed, LogFile, readRecords, readWhole, reason, type ReadRecord } from "./log_file.ts";

const GENERATION = /^(snapshot|log)-(\d{8})$/;
const FILES = "files";
const SMALLEST_TO_COMPACT = 16 * 1024 * 1024;
const GROWTH_TO_COMPACT = 2;
// Between two turns of the event loop, while a snapshot is written.
const SLICE_BYTES = 1024 * 1024;
const DOCUMENTS_PER_RECORD = 100;

export interface FolderOptions {
  /** Called where it is unknown what is on the disk, so that the process must end; with one line. */
  readonly onFatal: (line: string) => never;
  /** Called for what did not work and can be done without. */
  readonly onWarning: (line: string) => void;
  /** Bytes of a log from which on it is compacted. */
  readonly compactFrom?: number;
}

/** What a snapshot has to hold. */
export interface Everything {
  readonly records: readonly JournalRecord[];
  readonly ts: bigint;
  /** Of all documents. They never change, so that they can be written while the app goes on. */
  readonly writes: readonly Write[];
}

export class DurableFolder {
  readonly #folder: string;
  readonly #options: FolderOptions;
  #generation: number;
  #log: LogFile;
  #snapshotSize = 0;
  #compacting: Promise<void> | null = null;
  #everything: () => Everything = () => ({ records: [], ts: 0n, writes: [] });

  private constructor(folder: string, options: FolderOptions, generation: number, log: LogFile) {
    this.#folder = folder;
    this.#options = options;
    this.#generation = generation;
    this.#log = log;
  }

  /** Opens a folder, or makes it, and gives all that it holds to `take`. Throws `StorageError` in words for people. */
  static open(folder: string, take: (record: ReadRecord) => void, options: FolderOptions): DurableFolder {
    try {
      mkdirSync(path.join(folder, FILES), { recursive: true, mode: 0o700 });
      const { snapshots, logs } = generations(folder);
      const base = snapshots.at(-1) ?? 0;
      const snapshotSize = base === 0 ? 0 : readWhole(named(folder, "snapshot", base), take);
      const current = logs.filter((generation) => generation >= base);
      for (const generation of current.slice(0, -1)) readWhole(named(folder, "log", generation), take);
      const generation = current.at(-1) ?? base;
      // Only the last one can have been cut short.
      const size = current.length === 0 ? 0 : readRecords(named(folder, "log", generation), take);
      const opened = new DurableFolder(
        folder,
        options,
        generation,
        new LogFile(named(folder, "log", generation), size),
      );
      opened.#snapshotSize = snapshotSize;
      opened.#removeBefore(base);
      syncFolder(folder);
      return opened;
    } catch (error) {
      if (error instanceof StorageError) throw error;
      throw new StorageError(`${folder}: cannot be used for data (${reason(error)})`);
    }
  }

  /** Says what a snapshot has to hold; from now on the log is compacted. */
  compactWith(everything: () => Everything): void {
    this.#everything = everything;
    this.#compactIfLong();
  }

  /** Writes a record down; it is on the disk with the next commit. Throws `StorageError`. */
  append(record: JournalRecord): void {
    this.#log.append(record);
  }

  /** Puts what a transaction writes onto the disk. Throws `StorageError`, and then nothing of it is kept. */
  commit(ts: bigint, writes: readonly Write[], jobs: readonly ScheduledJob[]): void {
    // Only now has the store all that the log has.
    this.#compactIfLong();
    this.#log.append({
      kind: "commit",
      ts: String(ts),
      writes: writes.map(written),
      ...(jobs.length === 0 ? {} : { jobs }),
    });
    this.sync();
  }

  /** Returns once all that was written is on the disk. */
  sync(): void {
    try {
      this.#log.sync();
    } catch (error) {
      this.#options.onFatal(`${this.#log.path}: cannot be put onto the disk (${reason(error)})`);
    }
  }

  /** Puts the content of a file onto the disk, before the transaction that stores it commits. Throws `StorageError`. */
  keepFile(componentPath: string, storageId: string, content: Uint8Array): void {
    const file = this.#file(componentPath, storageId);
    try {
      writeFileSync(file, content, { mode: 0o600, flush: true });
      syncFolder(path.dirname(file));
    } catch (error) {
      rmSync(file, { force: true });
      throw new StorageError(`${file}: cannot be written (${reason(error)}); nothing was stored`);
    }
  }

  /** The content of a stored file; it is read when it is asked for. */
  async openFile(componentPath: string, storageId: string, type: string): Promise<Blob> {
    return await openAsBlob(this.#file(componentPath, storageId), { type });
  }

  removeFile(componentPath: string, storageId: string): void {
    rmSync(this.#file(componentPath, storageId), { force: true });
  }

  /** Removes files that no document has: their transaction never committed, or removed them. */
  keepOnly(files: readonly (readonly [componentPath: string, storageId: string])[]): void {
    const kept = new Set(files.map(([componentPath, storageId]) => fileName(componentPath, storageId)));
    for (const name of readdirSync(path.join(this.#folder, FILES))) {
      if (!kept.has(name)) rmSync(path.join(this.#folder, FILES, name), { force: true });
    }
  }

  /** Resolves once no snapshot is being written. */
  async idle(): Promise<void> {
    await this.#compacting;
  }

  close(): void {
    this.#log.close();
  }

  #file(componentPath: string, storageId: string): string {
    return path.join(this.#folder, FILES, fileName(componentPath, storageId));
  }

  #compactIfLong(): void {
    const limit = Math.max(this.#options.compactFrom ?? SMALLEST_TO_COMPACT, GROWTH_TO_COMPACT * this.#snapshotSize);
    if (this.#compacting !== null || this.#log.size < limit) return;
    this.#compacting = this.#compact()
      .catch((error: unknown) => this.#options.onWarning(`${this.#folder}: not compacted (${reason(error)})`))
      .finally(() => (this.#compacting = null));
  }

  async #compact(): Promise<void> {
    const next = this.#generation + 1;
    const log = new LogFile(named(this.#folder, "log", next));
    const everything = this.#everything();
    this.sync();
    this.#log.close();
    this.#log = log;
    this.#generation = next;
    syncFolder(this.#folder);

    const target = named(this.#folder, "snapshot", next);
    const unfinished = `${target}.unfinished`;
    try {
      this.#snapshotSize = await writeSnapshot(unfinished, everything);
      renameSync(unfinished, target);
      syncFolder(this.#folder);
    } catch (error) {
      rmSync(unfinished, { force: true });
      throw error;
    }
    this.#removeBefore(next);
  }

  #removeBefore(generation: number): void {
    for (const name of readdirSync(this.#folder)) {
      const [, , number] = GENERATION.exec(name) ?? [];
      const old = number === undefined ? name.endsWith(".unfinished") : Number(number) < generation;
      if (old) rmSync(path.join(this.#folder, name), { force: true });
    }
  }
}

/** Bytes of the file. */
async function writeSnapshot(file: string, everything: Everything): Promise<number> {
  const fd = openSync(file, "w", 0o600);
  try {
    let size = 0;
    let slice = 0;
    for (const record of inSnapshot(everything)) {
      const frame = framed(record);
      for (let done = 0; done < frame.length; ) done += writeSync(fd, frame, done);
      size += frame.length;
      if (size - slice < SLICE_BYTES) continue;
      slice = size;
      await setImmediate();
    }
    fsyncSync(fd);
    return size;
  } finally {
    closeSync(fd);
  }
}

function* inSnapshot({ records, ts, writes }: Everything): Iterable<JournalRecord> {
  yield* records;
  for (let at = 0; at < writes.length; at += DOCUMENTS_PER_RECORD) {
    yield { kind: "commit", ts: String(ts), writes: writes.slice(at, at + DOCUMENTS_PER_RECORD).map(written) };
  }
}

function generations(folder: string): { snapshots: number[]; logs: number[] } {
  const found = { snapshot: [] as number[], log: [] as number[] };
  for (const name of readdirSync(folder).sort()) {
    const [, kind, number] = GENERATION.exec(name) ?? [];
    if (kind !== undefined) found[kind as keyof typeof found].push(Number(number));
  }
  return { snapshots: found.snapshot, logs: found.log };
}

function named(folder: string, kind: "snapshot" | "log", generation: number): string {
  return path.join(folder, `${kind}-${String(generation).padStart(8, "0")}`);
}

// Paths of components have characters that a file's name must not have.
function fileName(componentPath: string, storageId: string): string {
  if (componentPath === "") return storageId;
  return `${createHash("sha256").update(componentPath).digest("hex").slice(0, 16)}-${storageId}`;
}

// A name is on the disk once its folder is.
function syncFolder(folder: string): void {
  const fd = openSync(folder, "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
