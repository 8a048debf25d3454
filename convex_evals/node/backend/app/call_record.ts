/** What is collected while one function call of a client runs. */

import { AsyncLocalStorage } from "node:async_hooks";
import { ReadSet } from "../data_store.ts";
import { noteCall } from "./idle_memory.ts";

export interface CallRecord {
  readonly logLines: string[];
  readonly readSet: ReadSet;
  /** Where the page of a paginated query ended the last time that it ran. */
  readonly givenJournal: string | null;
  /** Where it ends this time. */
  journal: string | null;
  /** Whether this is a query that a client asks for: the queries of an action have no journal, each begins anew. */
  readonly keepsJournal: boolean;
  /** Set when a mutation of this call has committed. */
  commitTs: bigint | null;
}

const records = new AsyncLocalStorage<CallRecord>();

export function newCallRecord(keepsJournal = false, givenJournal: string | null = null): CallRecord {
  return { logLines: [], readSet: new ReadSet(), givenJournal, journal: null, keepsJournal, commitTs: null };
}

export function withCallRecord<T>(record: CallRecord, run: () => T): T {
  noteCall();
  return records.run(record, run);
}

export function currentCallRecord(): CallRecord | undefined {
  return records.getStore();
}
