/** Cron jobs of the running deployment. */

import type { CronSchedule, CronSpec } from "./runtime_types.ts";
import { parseCronExpression } from "./cron_expression.ts";
import { runAt } from "./timers.ts";

const WEEKDAYS = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];

export interface CronJob {
  readonly componentPath: string;
  readonly name: string;
  readonly spec: CronSpec;
}

/** Unix milliseconds. */
export interface CronTimes {
  readonly nextRunMs: number;
  readonly lastRunMs: number | null;
}

export interface CronStatus extends CronJob, CronTimes {}

interface Entry {
  readonly job: CronJob;
  nextRunMs: number;
  lastRunMs: number | null;
  running: boolean;
  cancel: () => void;
}

/** Owns one timer per cron job. */
export class CronTimers {
  readonly #run: (job: CronJob) => Promise<void>;
  readonly #known: ReadonlyMap<string, CronTimes>;
  readonly #onTimes: (key: string, times: CronTimes) => void;
  #entries: Entry[] = [];

  /** `known`: the times of jobs that ran before the process started; `onTimes` is told those of jobs that run now. */
  constructor(
    run: (job: CronJob) => Promise<void>,
    known: ReadonlyMap<string, CronTimes> = new Map(),
    onTimes: (key: string, times: CronTimes) => void = () => {},
  ) {
    this.#run = run;
    this.#known = known;
    this.#onTimes = onTimes;
  }

  /** Replaces the jobs; one that stays the same keeps its next time. */
  replace(jobs: readonly CronJob[]): void {
    const before = new Map<string, CronTimes>([
      ...this.#known,
      ...this.#entries.map((entry) => [keyOf(entry.job), entry] as const),
    ]);
    for (const entry of this.#entries) entry.cancel();
    this.#entries = jobs.map((job) => {
      const known = before.get(keyOf(job));
      const entry: Entry = {
        job,
        nextRunMs: known?.nextRunMs ?? firstRun(job.spec.schedule, Date.now()),
        lastRunMs: known?.lastRunMs ?? null,
        running: false,
        cancel: () => {},
      };
      if (!known) this.#onTimes(keyOf(job), { nextRunMs: entry.nextRunMs, lastRunMs: null });
      this.#arm(entry);
      return entry;
    });
  }

  list(): CronStatus[] {
    return this.#entries.map(({ job, nextRunMs, lastRunMs }) => ({ ...job, nextRunMs, lastRunMs }));
  }

  #arm(entry: Entry): void {
    entry.cancel = runAt(entry.nextRunMs, () => {
      const dueMs = entry.nextRunMs;
      entry.nextRunMs = nextRun(entry.job.spec.schedule, Date.now(), dueMs);
      this.#onTimes(keyOf(entry.job), { nextRunMs: entry.nextRunMs, lastRunMs: dueMs });
      this.#arm(entry);
      // At most one run at a time; those that come due meanwhile are skipped.
      if (!entry.running) void this.#start(entry, dueMs);
    });
  }

  async #start(entry: Entry, dueMs: number): Promise<void> {
    entry.lastRunMs = dueMs;
    entry.running = true;
    try {
      await this.#run(entry.job);
    } finally {
      entry.running = false;
    }
  }
}

function keyOf(job: CronJob): string {
  return JSON.stringify([job.componentPath, job.name, job.spec]);
}

// An interval starts when it is deployed: https://docs.convex.dev/scheduling/cron-jobs
function firstRun(schedule: CronSchedule, nowMs: number): number {
  return schedule.type === "interval" ? nowMs : nextRun(schedule, nowMs, nowMs);
}

/** Unix milliseconds of the run after `afterMs`; intervals count from `previousMs`. */
export function nextRun(schedule: CronSchedule, afterMs: number, previousMs: number): number {
  switch (schedule.type) {
    case "interval":
      return nextInterval(intervalSeconds(schedule) * 1000, afterMs, previousMs);
    case "hourly":
      return nextMatch(`${schedule.minuteUTC ?? 0} * * * *`, afterMs);
    case "daily":
      return nextMatch(`${schedule.minuteUTC ?? 0} ${schedule.hourUTC} * * *`, afterMs);
    case "weekly":
      return nextMatch(
        `${schedule.minuteUTC ?? 0} ${schedule.hourUTC} * * ${WEEKDAYS.indexOf(schedule.dayOfWeek)}`,
        afterMs,
      );
    case "monthly":
      return nextMatch(`${schedule.minuteUTC ?? 0} ${schedule.hourUTC} ${schedule.day} * *`, afterMs);
    case "cron":
      return nextMatch(schedule.cron, afterMs);
    default:
      throw schedule satisfies never;
  }
}

export function intervalSeconds(schedule: Extract<CronSchedule, { type: "interval" }>): number {
  return schedule.seconds ?? (schedule.minutes !== undefined ? schedule.minutes * 60 : (schedule.hours ?? 0) * 3600);
}

// Missed runs are skipped, the rhythm is kept.
function nextInterval(stepMs: number, afterMs: number, previousMs: number): number {
  const missed = Math.max(0, Math.floor((afterMs - previousMs) / stepMs));
  return previousMs + (missed + 1) * stepMs;
}

function nextMatch(expression: string, afterMs: number): number {
  return parseCronExpression(expression).next(afterMs) ?? Number.MAX_SAFE_INTEGER;
}
