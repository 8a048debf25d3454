/** Timers of `ctx.scheduler` jobs; they outlast the deployment that scheduled them. */

import type { Commit } from "./data_store.ts";
import { StorageError } from "./durable/journal.ts";
import type { ScheduledJob } from "./runtime_types.ts";
import { runAt } from "./timers.ts";

const TABLE = "_scheduled_functions";
// Of a job that could not begin, because the disk took nothing.
const RETRY_MS = 1000;

/** Arms a job when the transaction that scheduled it commits, and runs it when due. */
export class Scheduler {
  readonly #run: (job: ScheduledJob) => Promise<void>;
  // Scheduled by transactions that have not committed yet.
  readonly #announced = new Map<string, ScheduledJob>();
  readonly #armed = new Map<string, () => void>();

  constructor(run: (job: ScheduledJob) => Promise<void>) {
    this.#run = run;
  }

  announce(job: ScheduledJob): void {
    this.#announced.set(jobKey(job.componentPath, job.jobId), job);
  }

  /** Jobs of the transaction that is about to commit, by `jobKey`. */
  get announced(): ReadonlyMap<string, ScheduledJob> {
    return this.#announced;
  }

  /** Arms a job that was committed before the process started. */
  resume(job: ScheduledJob): void {
    this.#arm(jobKey(job.componentPath, job.jobId), job);
  }

  onCommit(commit: Commit): void {
    for (const write of commit.writes) {
      if (write.table !== TABLE) continue;
      const key = jobKey(write.componentPath, write.id);
      const pending = (write.document?.["state"] as { kind?: string } | undefined)?.kind === "pending";
      const job = this.#announced.get(key);
      if (pending && job) this.#arm(key, job);
      else if (!pending) this.#disarm(key);
    }
    // Transactions run one at a time: what is left was rolled back.
    this.#announced.clear();
  }

  close(): void {
    for (const key of [...this.#armed.keys()]) this.#disarm(key);
  }

  #arm(key: string, job: ScheduledJob): void {
    this.#disarm(key);
    const cancel = runAt(job.dueMs, () => {
      this.#armed.delete(key);
      this.#run(job).catch((error: unknown) => {
        if (!(error instanceof StorageError)) throw error;
        // Nothing of it happened.
        this.#arm(key, { ...job, dueMs: Date.now() + RETRY_MS });
      });
    });
    this.#armed.set(key, cancel);
  }

  #disarm(key: string): void {
    this.#armed.get(key)?.();
    this.#armed.delete(key);
  }
}

export function jobKey(componentPath: string, jobId: string): string {
  return `${componentPath}|${jobId}`;
}
