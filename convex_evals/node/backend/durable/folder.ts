/**
 * The folder that a deployment lives in:
 *
 *     snapshot-N   everything, as it was when log-N was begun
 *     log-N        what has changed since, and log-N+1 what came after that
 *     log-N.torn-at-BYTE   what a start cut off from a log, as it was not written whole
 *     files/       the content of stored files
 *
 * A snapshot is written beside the running app, and has its name once it is whole; older snapshots and logs go then.
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
} from "node:fs";
import path from "node:path";
import type { Write } from "../data_store.ts";
import type { ScheduledJob } from "../runtime_types.ts";
import { written } from "./documents.ts";
import { StorageError, type JournalRecord } from "./journal.ts";
import {
  damaged,
  isTornCopy,
  keepTorn,
  LogFile,
  readRecords,
  readWhole,
  reason,
  type ReadFile,
  type ReadRecord,
} from "./log_file.ts";
import { readSnapshot, writeSnapshot, type Everything } from "./snapshot_file.ts";

const GENERATION = /^(snapshot|log)-(\d{8})$/;
const FILES = "files";
const SMALLEST_TO_COMPACT = 16 * 1024 * 1024;
const GROWTH_TO_COMPACT = 2;

export interface FolderOptions {
  /** Called where it is unknown what is on the disk, so that the process must end; with one line. */
  readonly onFatal: (line: string) => never;
  /** Called for what did not work and can be done without, and for what was cut off from a log; with one line. */
  readonly onWarning: (line: string) => void;
  /** Bytes of a log from which on it is compacted. */
  readonly compactFrom?: number;
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
      if (snapshots.length + logs.length === 0) {
        LogFile.begin(named(folder, "log", 0), 0).close();
        logs.push(0);
      }
      const base = snapshots.at(-1) ?? logs[0] ?? 0;
      const generation = logs.at(-1) ?? base;
      const snapshotSize = base === 0 ? 0 : readSnapshot(named(folder, "snapshot", base), take);
      const read = readLogs(folder, [base, generation], take);
      const log = openLog(named(folder, "log", generation), read, options);
      const opened = new DurableFolder(folder, options, generation, log);
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
    // A document that was cut off may have them.
    if (readdirSync(this.#folder).some(isTornCopy)) return;
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

  // What is written to a log whose name is not on the disk is lost with it.
  #syncNames(): void {
    try {
      syncFolder(this.#folder);
    } catch (error) {
      this.#options.onFatal(`${this.#folder}: cannot be put onto the disk (${reason(error)})`);
    }
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
    const everything = this.#everything();
    this.sync();
    const log = LogFile.begin(named(this.#folder, "log", next), this.#log.size);
    this.#log.close();
    this.#log = log;
    this.#generation = next;
    this.#syncNames();

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

/** Reads logs, each of which follows the one before; returns what the last one holds, which may be torn. */
function readLogs(folder: string, [from, to]: [number, number], take: (record: ReadRecord) => void): ReadFile {
  let before = { file: "", size: 0 };
  for (let generation = from; ; generation++) {
    const file = named(folder, "log", generation);
    const read = generation === to ? readRecords(file, take) : readWhole(file, take);
    if (read.first.kind !== "begin") throw damaged(file, 0);
    if (generation > from && read.first.follows !== before.size) throw damaged(before.file, before.size);
    if (generation === to) return read;
    before = { file, size: read.size };
  }
}

/** Opens a log behind its last whole record. What is torn is cut off once a copy is on the disk. */
function openLog(file: string, read: ReadFile, { onWarning }: FolderOptions): LogFile {
  if (read.torn.length === 0) return new LogFile(file, read.size);
  const copy = keepTorn(file, read);
  syncFolder(path.dirname(file));
  const log = new LogFile(file, read.size);
  log.sync();
  const where = `what begins at byte ${read.size} is kept in ${path.basename(copy)}`;
  onWarning(`${file}: its last record was not written whole; ${where}`);
  return log;
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
