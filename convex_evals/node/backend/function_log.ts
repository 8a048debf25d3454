/** Executions of functions, as `npx convex logs` streams them. */

import { randomUUID } from "node:crypto";
import type { FunctionResult, JsonValue } from "./runtime_types.ts";
import { newRequestId } from "./errors.ts";

export interface FinishedCall {
  readonly path: string;
  readonly udfType: "Query" | "Mutation" | "Action";
  readonly result: FunctionResult;
  readonly logLines: readonly string[];
  readonly startedMs: number;
}

type LogEntry = { readonly [field: string]: JsonValue };

const MAX_ENTRIES = 1000;
// The CLI polls again when nothing has come.
const POLL_MS = 10_000;

/** A bounded list of log entries, and who waits for the next one. */
export class FunctionLog {
  readonly #entries: { cursor: number; entry: LogEntry }[] = [];
  readonly #waiting = new Set<() => void>();
  #cursor = 0;

  add(call: FinishedCall): void {
    if (call.path.startsWith("_system/")) return;
    this.#entries.push({ cursor: ++this.#cursor, entry: completion(call) });
    if (this.#entries.length > MAX_ENTRIES) this.#entries.shift();
    for (const wake of this.#waiting) wake();
  }

  /** Entries newer than `cursor`; waits for one if there is none yet. */
  async after(cursor: number, closed: AbortSignal): Promise<{ entries: LogEntry[]; newCursor: number }> {
    if (this.#cursor <= cursor) await this.#next(closed);
    const entries = this.#entries.filter((item) => item.cursor > cursor).map((item) => item.entry);
    return { entries, newCursor: this.#cursor };
  }

  async #next(closed: AbortSignal): Promise<void> {
    await new Promise<void>((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(done);
        resolve();
      };
      const timer = setTimeout(done, POLL_MS);
      timer.unref();
      this.#waiting.add(done);
      closed.addEventListener("abort", done, { once: true });
    });
  }
}

// The fields of `FunctionExecutionJson` that the CLI shows; times in seconds.
function completion({ path, udfType, result, logLines, startedMs }: FinishedCall): LogEntry {
  return {
    kind: "Completion",
    identifier: path.replace(/\.js(?=:|$)/, ""),
    udfType,
    logLines: [...logLines],
    timestamp: startedMs / 1000,
    executionTime: (Date.now() - startedMs) / 1000,
    ...(result.ok ? { success: null } : { error: result.errorMessage }),
    requestId: newRequestId(),
    executionId: randomUUID(),
    cachedResult: false,
  };
}
