/** What of an app outlives its process: read from a journal's records, and said again for a snapshot. */

import { randomBytes } from "node:crypto";
import type { CronTimes } from "../crons.ts";
import type { DataStore, Keeper, Write } from "../data_store.ts";
import { readWrites } from "../durable/documents.ts";
import { DurableFolder, type FolderOptions } from "../durable/folder.ts";
import { StorageError, type JournalRecord } from "../durable/journal.ts";
import type { ReadRecord } from "../durable/log_file.ts";
import type { Everything } from "../durable/snapshot_file.ts";
import type { LoadPhase } from "../isolate/types.ts";
import type { StartPushRequest } from "../push/request.ts";
import type { ScheduledJob } from "../runtime_types.ts";
import { jobKey } from "../scheduler.ts";
import type { FileAddress } from "../storage.ts";

const JOBS = "_scheduled_functions";
const FILES = "_storage";
// get-convex/convex-backend crates/application/src/scheduled_jobs/mod.rs
const INTERRUPTED = "Transient error while executing action";

/** A folder, and who is told of its disk. */
export interface KeptData extends FolderOptions {
  readonly folder: string;
}

/** The state of an app that has a folder; its fields follow the records that are read and written. */
export class KeptApp implements Keeper {
  readonly folder: DurableFolder;
  readonly tables = new Map<string, number>();
  readonly handles = new Map<string, string>();
  readonly environment = new Map<string, string>();
  readonly crons = new Map<string, CronTimes>();
  /** Jobs that are not over, by component path and id. */
  readonly jobs = new Map<string, ScheduledJob>();
  secret = "";
  request: StartPushRequest | null = null;
  load: LoadPhase | undefined;
  /** Jobs of the transaction that is about to commit. */
  scheduled: () => ReadonlyMap<string, ScheduledJob> = () => new Map();
  readonly #store: DataStore;
  readonly #onWarning: (line: string) => void;

  /** Opens `folder`, and puts its documents into `store`. Throws `StorageError`. */
  constructor(folder: string, store: DataStore, options: FolderOptions) {
    this.#store = store;
    this.#onWarning = options.onWarning;
    this.folder = DurableFolder.open(folder, (record) => this.#read(record), options);
    if (this.secret === "") this.append({ kind: "secret", secret: randomBytes(32).toString("hex") });
    this.folder.compactWith(() => this.#everything());
  }

  /** Writes a record down; it is on the disk with the next commit. Throws `StorageError`. */
  append(record: Exclude<JournalRecord, { kind: "commit" }>): void {
    this.folder.append(record);
    this.#follow(record);
  }

  /** The same, and returns once it is on the disk. */
  keep(record: Exclude<JournalRecord, { kind: "commit" }>): void {
    this.append(record);
    this.folder.sync();
  }

  /** Keeps what was pushed, unless it is what runs already. Throws `StorageError`. */
  keepPush(request: StartPushRequest, load: LoadPhase): void {
    if (JSON.stringify(request) !== JSON.stringify(this.request)) this.keep({ kind: "push", request, load });
  }

  /** Notes when a cron runs; on a full disk it runs all the same, and after a restart perhaps once more. */
  noteCron(key: string, times: CronTimes): void {
    try {
      this.append({ kind: "cron", key, ...times });
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      this.#onWarning(error.message);
    }
  }

  /** Puts a transaction onto the disk. Throws `StorageError`, and then nothing of it is kept. */
  commit(ts: bigint, writes: readonly Write[]): void {
    if (writes.length === 0) return;
    const scheduled = this.scheduled();
    const jobs = writes.flatMap((write) => scheduled.get(jobKey(write.componentPath, write.id)) ?? []);
    this.folder.commit(ts, writes, jobs);
    this.#followJobs(writes, jobs);
  }

  keepFile(componentPath: string, storageId: string, content: Uint8Array): void {
    this.folder.keepFile(componentPath, storageId, content);
  }

  openFile(componentPath: string, storageId: string, type: string): Promise<Blob> {
    return this.folder.openFile(componentPath, storageId, type);
  }

  removeFile(componentPath: string, storageId: string): void {
    this.folder.removeFile(componentPath, storageId);
  }

  *files(): Iterable<FileAddress> {
    for (const { componentPath, id } of this.#store.documents(FILES)) yield { componentPath, storageId: id };
  }

  /** Jobs that wait for their time. Actions that were at work when the process was ended have failed. */
  resumableJobs(): ScheduledJob[] {
    const interrupted: Write[] = [];
    for (const write of this.#store.documents(JOBS)) {
      if ((write.document?.["state"] as { kind?: string } | undefined)?.kind !== "inProgress") continue;
      const state = { kind: "failed", error: INTERRUPTED };
      interrupted.push({ ...write, document: { ...write.document, state, completedTime: Date.now() } });
    }
    const ts = this.#store.lastCommitTs + 1n;
    this.commit(ts, interrupted);
    for (const write of interrupted) this.#store.restore(write);
    this.#store.restoreTs(ts);
    return [...this.jobs.values()];
  }

  /** Gives the store the content of its files, and removes content that belongs to none. */
  async openFiles(): Promise<void> {
    const files = [...this.#store.documents(FILES)];
    this.folder.keepOnly(files.map(({ componentPath, id }) => [componentPath, id]));
    await Promise.all(
      files.map(async ({ componentPath, id, document }) => {
        const type = (document?.["contentType"] as string | undefined) ?? "";
        this.#store.component(componentPath).files.set(id, await this.folder.openFile(componentPath, id, type));
      }),
    );
  }

  #read([record, text]: ReadRecord): void {
    if (record.kind !== "commit") {
      this.#follow(record);
      return;
    }
    const writes = readWrites(record.writes, text);
    for (const write of writes) this.#store.restore(write);
    this.#store.restoreTs(BigInt(record.ts));
    this.#followJobs(writes, record.jobs ?? []);
  }

  #follow(record: Exclude<JournalRecord, { kind: "commit" }>): void {
    switch (record.kind) {
      case "table":
        this.tables.set(record.name, record.number);
        break;
      case "handle":
        this.handles.set(record.fn, record.handle);
        break;
      case "environment":
        for (const [name, value] of Object.entries(record.changes)) {
          if (value === null) this.environment.delete(name);
          else this.environment.set(name, value);
        }
        break;
      case "cron":
        this.crons.set(record.key, { nextRunMs: record.nextRunMs, lastRunMs: record.lastRunMs });
        break;
      case "push":
        this.request = record.request;
        this.load = record.load;
        break;
      case "secret":
        this.secret = record.secret;
        break;
      case "begin":
      case "end":
        break;
      default:
        throw record satisfies never;
    }
  }

  #followJobs(writes: readonly Write[], jobs: readonly ScheduledJob[]): void {
    for (const job of jobs) this.jobs.set(jobKey(job.componentPath, job.jobId), job);
    for (const { componentPath, table, id, document } of writes) {
      if (table !== JOBS) continue;
      const kind = (document?.["state"] as { kind?: string } | undefined)?.kind;
      if (kind !== "pending" && kind !== "inProgress") this.jobs.delete(jobKey(componentPath, id));
    }
  }

  #everything(): Everything {
    const ts = this.#store.lastCommitTs;
    const records: JournalRecord[] = [
      { kind: "secret", secret: this.secret },
      ...[...this.tables].map(([name, number]) => ({ kind: "table", name, number }) as const),
      ...[...this.handles].map(([fn, handle]) => ({ kind: "handle", fn, handle }) as const),
      { kind: "environment", changes: Object.fromEntries(this.environment) },
      ...[...this.crons].map(([key, times]) => ({ kind: "cron", key, ...times }) as const),
      ...(this.request
        ? [{ kind: "push", request: this.request, ...(this.load && { load: this.load }) } as const]
        : []),
      { kind: "commit", ts: String(ts), writes: [], jobs: [...this.jobs.values()] },
    ];
    return { records, ts, writes: [...this.#store.documents()] };
  }
}
