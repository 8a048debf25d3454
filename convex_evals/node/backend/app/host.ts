/** The host's side of the border: what `RuntimeHost` means for one backend. */

import { randomInt } from "node:crypto";
import type { FileUrls } from "../storage.ts";
import type { Scheduler } from "../scheduler.ts";
import { currentCallRecord } from "./call_record.ts";
import type { DataStore } from "../data_store.ts";
import type { RuntimeHost } from "../runtime_types.ts";
import type { FunctionHandles } from "./function_handles.ts";
import type { TableNumbers } from "./table_numbers.ts";
import { askingLife } from "../realm/call_life.ts";
import {
  called,
  dropped,
  endedByRejections,
  settled,
  signOfLife,
  withItsCalls,
  type ExecutionLimits,
} from "../realm/executions.ts";
import { guarded, setCommitting } from "../realm/watchdog.ts";

/** How long functions may run. */
export interface FunctionLimits {
  /** Queries and mutations. */
  readonly transaction: ExecutionLimits;
  /** Actions and HTTP actions. */
  readonly action: ExecutionLimits;
}

export interface HostParts {
  readonly store: DataStore;
  readonly scheduler: Scheduler;
  readonly files: FileUrls;
  readonly tables: TableNumbers;
  readonly handles: FunctionHandles;
  readonly limits: FunctionLimits;
  siteUrl(): string;
  /** Called for every console line of the app. */
  onLog(line: string): void;
  /** What clients are told of it. */
  told(line: string): string;
}

// A function that logs without end must not fill the memory.
const MAX_LOG_LINES = 256;

export function createHost(parts: HostParts): RuntimeHost {
  const { store, scheduler, files, tables, handles } = parts;
  return {
    committedData: (componentPath) => store.component(componentPath),
    lastCommitTs: () => store.lastCommitTs,
    ...transactions(store),
    ...recording(parts),
    jobScheduled: (job) => scheduler.announce(job),
    storageUrl: (componentPath, storageId) => files.downloadUrl(componentPath, storageId),
    uploadUrl: (componentPath) => files.uploadUrl(componentPath),
    siteUrl: () => parts.siteUrl(),
    guardTransaction: (run) => guarded(parts.limits.transaction, () => settled(() => withItsCalls(run))),
    guardNested: (run) => settled(run),
    called,
    guardAction: (run) => guarded(parts.limits.action, () => endedByRejections(run)),
    signOfLife,
    randomSeed: () => randomInt(2 ** 32),
    tableNumber: (table) => tables.numberOf(table),
    tableName: (number) => tables.nameOf(number),
    functionHandle: (fn) => handles.handleOf(fn),
    functionOfHandle: (handle) => handles.functionOf(handle),
    base64Encode: (bytes) => Buffer.from(bytes).toString("base64"),
    base64Decode: (text) => new Uint8Array(Buffer.from(text, "base64")),
  };
}

type TransactionCalls =
  | "commit"
  | "committing"
  | "acquireTransaction"
  | "releaseTransaction"
  | "nextCreationTime"
  | "nextCommitTs";

/** The beginning and the end of transactions, and their time. */
function transactions(store: DataStore): Pick<RuntimeHost, TransactionCalls> {
  return {
    commit: (ts) => {
      const record = currentCallRecord();
      if (record) record.commitTs = ts;
      store.commit(ts);
      setCommitting(false);
    },
    committing: (ts, writes) => {
      if (askingLife()?.hasEnded) throw dropped();
      setCommitting(true);
      store.keep(ts, writes);
    },
    acquireTransaction: async () => {
      await store.lock.acquire();
      if (askingLife()?.hasEnded) {
        store.lock.release();
        throw dropped();
      }
      store.clock.begin(store.lastCommitTs);
    },
    nextCreationTime: () => store.clock.created(),
    nextCommitTs: () => store.clock.commitTs(),
    releaseTransaction: () => {
      // Also after a commit that failed half-way: the watchdog must not stay blind.
      setCommitting(false);
      store.lock.release();
    },
  };
}

/** What is collected for the call that is running. */
function recording(
  parts: Pick<HostParts, "onLog" | "told">,
): Pick<RuntimeHost, "recordRead" | "journaledEndCursor" | "journalEndCursor" | "log"> {
  return {
    recordRead: (componentPath, table) => currentCallRecord()?.readSet.add(componentPath, table),
    journaledEndCursor: () => {
      const record = currentCallRecord();
      return record?.keepsJournal ? record.givenJournal : null;
    },
    journalEndCursor: (cursor) => {
      const record = currentCallRecord();
      if (record?.keepsJournal) record.journal = cursor;
    },
    log: (level, text) => {
      const line = `[${level}] ${text}`.toWellFormed();
      const lines = currentCallRecord()?.logLines;
      if (lines && lines.length < MAX_LOG_LINES) lines.push(parts.told(line));
      parts.onLog(line);
    },
  };
}
