/** What a deployment that outlives its process writes down. */

import type { LoadPhase } from "../isolate/types.ts";
import type { StartPushRequest } from "../push/request.ts";
import type { JsonValue, ScheduledJob } from "../runtime_types.ts";

/** A document as it is written: component path, table, id, and the document in Convex's JSON; null once it is removed. */
export type WrittenDocument = readonly [string, string, string, JsonValue];

/** One whole change. All of it is kept, or nothing. */
export type JournalRecord =
  /** `ts`: Unix nanoseconds, in decimal. `jobs`: those whose documents the transaction wrote. */
  | {
      readonly kind: "commit";
      readonly ts: string;
      readonly writes: readonly WrittenDocument[];
      readonly jobs?: readonly ScheduledJob[];
    }
  | { readonly kind: "table"; readonly name: string; readonly number: number }
  | { readonly kind: "handle"; readonly fn: string; readonly handle: string }
  | { readonly kind: "environment"; readonly changes: Readonly<Record<string, string | null>> }
  | { readonly kind: "cron"; readonly key: string; readonly nextRunMs: number; readonly lastRunMs: number | null }
  /** `load` is missing from what older versions wrote. */
  | { readonly kind: "push"; readonly request: StartPushRequest; readonly load?: LoadPhase }
  /** From which the public names of files, and upload tokens, are made; hexadecimal. */
  | { readonly kind: "secret"; readonly secret: string }
  /** The first record of a log. `follows`: bytes of the log before, 0 for the first one. */
  | { readonly kind: "begin"; readonly follows: number }
  /** The last record of a snapshot. */
  | { readonly kind: "end" };

/** The disk took no more; in words for whoever called the function. */
export class StorageError extends Error {
  override readonly name = "StorageError";
}
