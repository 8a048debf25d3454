/** A file of records that holds everything; the last one says that nothing is missing. */

import { closeSync, fsyncSync, openSync, writeSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import type { Write } from "../data_store.ts";
import { written } from "./documents.ts";
import type { JournalRecord } from "./journal.ts";
import { damaged, framed, readWhole, type ReadRecord } from "./log_file.ts";

// Between two turns of the event loop, while a snapshot is written.
const SLICE_BYTES = 1024 * 1024;
const DOCUMENTS_PER_RECORD = 100;

/** What a snapshot has to hold. */
export interface Everything {
  readonly records: readonly JournalRecord[];
  readonly ts: bigint;
  /** Of all documents. They never change, so that they can be written while the app goes on. */
  readonly writes: readonly Write[];
}

/** Writes a snapshot, a slice for each turn of the event loop; returns its bytes. */
export async function writeSnapshot(file: string, everything: Everything): Promise<number> {
  const fd = openSync(file, "w", 0o600);
  try {
    let size = 0;
    let slice = 0;
    for (const record of inSnapshot(everything)) {
      const frame = framed(record, size);
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
  yield { kind: "end" };
}

/** Reads a whole snapshot; returns its bytes. Throws `StorageError`. */
export function readSnapshot(file: string, take: (record: ReadRecord) => void): number {
  const { last, size } = readWhole(file, take);
  if (last.kind !== "end") throw damaged(file, size);
  return size;
}
