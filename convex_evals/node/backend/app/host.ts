/** The host's side of the border: what `RuntimeHost` means for one backend. */

import { randomInt } from "node:crypto";
import type { FileUrls } from "../storage.ts";
import type { Scheduler } from "../scheduler.ts";
import { detached } from "../timers.ts";
import { currentCallRecord } from "./call_record.ts";
import type { DataStore } from "./data_store.ts";
import type { LogLevel, RuntimeHost } from "./runtime_types.ts";

export interface HostParts {
  readonly store: DataStore;
  readonly scheduler: Scheduler;
  readonly files: FileUrls;
  /** How long a query or mutation may take to settle. */
  readonly functionTimeLimitMs: number;
  siteUrl(): string;
  /** Called for every console line of the app. */
  onLog(line: string): void;
}

// A function that logs without end must not fill the memory.
const MAX_LOG_LINES = 256;

export function createHost(parts: HostParts): RuntimeHost {
  const { store, scheduler, files } = parts;
  return {
    committedData: (componentPath) => store.component(componentPath),
    lastCommitTs: () => store.lastCommitTs,
    commit: (ts) => {
      const record = currentCallRecord();
      if (record) record.commitTs = ts;
      store.commit(ts);
    },
    acquireTransaction: () => store.lock.acquire(),
    releaseTransaction: () => store.lock.release(),
    recordRead: (componentPath, table) => currentCallRecord()?.readSet.add(componentPath, table),
    journaledEndCursor: () => currentCallRecord()?.journal ?? null,
    journalEndCursor: (cursor) => {
      const record = currentCallRecord();
      if (record) record.journal = cursor;
    },
    log: (level: LogLevel, text: string) => {
      const line = `[${level}] ${text}`;
      const lines = currentCallRecord()?.logLines;
      if (lines && lines.length < MAX_LOG_LINES) lines.push(line);
      parts.onLog(line);
    },
    jobScheduled: (job) => scheduler.announce(job),
    storageUrl: (componentPath, storageId) => files.downloadUrl(componentPath, storageId),
    uploadUrl: (componentPath) => files.uploadUrl(componentPath),
    siteUrl: () => parts.siteUrl(),
    setTimer: (callback, delayMs) => {
      const timer = detached(() => setTimeout(callback, delayMs));
      return () => clearTimeout(timer);
    },
    functionTimeLimitMs: () => parts.functionTimeLimitMs,
    randomSeed: () => randomInt(2 ** 32),
    base64Encode: (bytes) => Buffer.from(bytes).toString("base64"),
    base64Decode: (text) => new Uint8Array(Buffer.from(text, "base64")),
  };
}
