/**
 * Ends code of the app that keeps the process busy without end.
 *
 * App and backend share one thread, so the clock has to be on another one: a
 * worker sees that the event loop stands still, interrupts the main thread
 * through the inspector, and asks it who is running (`judge`, which finds the
 * async context of the code that it interrupts). Only what `judge` condemns is
 * terminated; V8 unwinds it like an uncatchable exception, and the execution's
 * promise is rejected from outside, so that its owner can clean up.
 *
 * Terminating drops the microtasks that are pending at that moment. Code of the
 * app therefore starts in a turn of the event loop of its own (`ownTurn`).
 */

import { readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { Worker } from "node:worker_threads";
import { forgetAsyncStack, keepsAsyncIds } from "./async_stack.ts";
import { BUNDLED_WATCHDOG } from "./bundled_runtime.ts";
import { detached } from "../timers.ts";
import { askingLife } from "./call_life.ts";
import { dropped, EndedError, Execution, ownTurn, running, timedOut, type ExecutionLimits } from "./executions.ts";
import { threadCpuMs } from "./user_clock.ts";
import { CELL, CELLS, JUDGE, VERDICT, type WatchdogMessage, type WatchdogSetup } from "./watchdog_cells.ts";

const BEAT_MS = 200;
// A process that waits for a processor is not a function that spins: this much
// of the limit must have been spent computing.
const MIN_CPU_SHARE = 0.5;
// Our own code, and timers that outlive their function.
const UNATTRIBUTED_LIMIT_MS = 30_000;

const cells = new Int32Array(new SharedArrayBuffer(CELLS * Int32Array.BYTES_PER_ELEMENT));

let worker: Worker | null = null;
let beats: NodeJS.Timeout | undefined;
let stopping: NodeJS.Timeout | undefined;
let lastBeatMs = 0;
let committing = false;
// Terminated, and not told so yet; more than one, when the loop finds no time between.
const condemned: { readonly execution: Execution | null; readonly limitMs: number }[] = [];

/** Runs code of the app; rejects with `EndedError` once it has been given up, or the action that asked for it has ended. */
export async function guarded<T>(limits: ExecutionLimits, run: () => Promise<T>): Promise<T> {
  const asking = askingLife();
  if (asking?.hasEnded) throw dropped();
  startWatching();
  let started: Execution | undefined;
  try {
    return await new Promise<T>((resolve, reject) => {
      const execution = new Execution(limits, reject);
      execution.endings.push(giveUpWhenIdle(execution));
      if (asking) execution.endings.push(asking.whenEnded(() => execution.expire(dropped())));
      started = execution;
      // What shares its stack and its microtasks is ended with it.
      running
        .run(execution, async () => {
          await ownTurn();
          if (execution.hasEnded) throw dropped();
          return await run();
        })
        .then(resolve, reject);
    });
  } finally {
    if (started) started.hasEnded = true;
    for (const end of started?.endings ?? []) end();
  }
}

/** Expires the execution once nothing has happened for too long; returns what ends the wait. */
function giveUpWhenIdle(execution: Execution): () => void {
  let ended = false;
  let timer: NodeJS.Timeout;
  const arm = (delayMs: number): void => {
    timer = detached(() => setTimeout(() => void look(), delayMs));
  };
  const look = async (): Promise<void> => {
    // That the timer is due says nothing yet: the execution may have kept the
    // loop busy until now, and be about to finish.
    for (let turn = 0; turn < 3; turn++) await ownTurn();
    const leftMs = execution.aliveMs + execution.limits.idleMs - performance.now();
    if (ended || condemned.some((item) => item.execution === execution)) return;
    if (leftMs > 0) arm(leftMs);
    else execution.expire(new EndedError(execution.limits.idleMessage));
  };
  arm(execution.limits.idleMs);
  return () => {
    ended = true;
    clearTimeout(timer);
  };
}

/** Between `true` and `false` nothing is terminated: half a commit must not happen. */
export function setCommitting(value: boolean): void {
  committing = value;
}

/** Starts the worker, once; nothing waits for it, as it counts from the last beat. */
export function startWatching(): void {
  clearTimeout(stopping);
  if (worker) return;
  lastBeatMs = performance.now();
  Object.defineProperty(globalThis, JUDGE, { value: judge, enumerable: false, configurable: true });
  detached(() => {
    const code =
      BUNDLED_WATCHDOG ?? stripTypeScriptTypes(readFileSync(new URL("./watchdog_thread.ts", import.meta.url), "utf8"));
    const workerData: WatchdogSetup = { memory: cells.buffer, cell: CELL, verdict: VERDICT, judge: JUDGE };
    // A flag such as --test or --experimental-vm-modules means nothing there.
    worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(code)}`), {
      workerData,
      execArgv: [],
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 1, stackSizeMb: 1 },
    });
    worker.unref();
    worker.on("message", (_message: WatchdogMessage) => afterTermination());
    worker.on("error", () => (worker = null));
    clearInterval(beats);
    beats = setInterval(beat, BEAT_MS).unref();
  });
}

// Several backends of one process, one after the other, share the worker.
const LINGER_MS = 300;

/** Ends the worker unless something of the app runs again at once. */
export function stopWatchingSoon(): void {
  clearTimeout(stopping);
  stopping = detached(() => setTimeout(() => void stopWatching(), LINGER_MS));
}

/** Ends the worker; a process that has one cannot exit, as it looks like a connected debugger. */
export async function stopWatching(): Promise<void> {
  clearInterval(beats);
  await worker?.terminate();
  worker = null;
}

function beat(): void {
  lastBeatMs = performance.now();
  Atomics.add(cells, CELL.beat, 1);
  Atomics.notify(cells, CELL.beat);
}

// Runs on the main thread, in the middle of whatever keeps it busy.
function judge(): void {
  const execution = running.getStore() ?? null;
  const limitMs = committing ? null : exceeded(execution);
  if (limitMs === null) {
    answer(VERDICT.spare);
    return;
  }
  if (keepsAsyncIds()) {
    answer(VERDICT.later);
    return;
  }
  condemned.push({ execution, limitMs });
  forgetAsyncStack();
  answer(VERDICT.end);
  // The termination must hit what was judged: nothing runs until it is on its way.
  Atomics.wait(cells, CELL.sent, 0, 1000);
}

function answer(verdict: number): void {
  Atomics.store(cells, CELL.verdict, verdict);
  Atomics.notify(cells, CELL.verdict);
}

/** The limit that the execution has exceeded, or null. */
function exceeded(execution: Execution | null): number | null {
  const now = performance.now();
  if (!execution) return now - lastBeatMs > UNATTRIBUTED_LIMIT_MS ? UNATTRIBUTED_LIMIT_MS : null;
  const { addsUp, busyMs, totalMs } = execution.limits;
  const cpuMs = threadCpuMs();
  execution.suspectedCpuMs ??= cpuMs;
  const computedMs = cpuMs - execution.suspectedCpuMs;
  const stuckMs = now - Math.max(execution.aliveMs, lastBeatMs);
  if (addsUp && execution.clock.usedMs > busyMs) return busyMs;
  const neededMs = addsUp ? busyMs : busyMs * MIN_CPU_SHARE;
  if (stuckMs > busyMs && (computedMs > neededMs || stuckMs > 10 * busyMs)) return busyMs;
  return now - Math.max(execution.startedMs, lastBeatMs) > totalMs ? totalMs : null;
}

function afterTermination(): void {
  for (const { execution, limitMs } of condemned.splice(0)) execution?.expire(timedOut(limitMs));
}
