/** Functions of the app that are running, each with what it started: promises, calls of others, timers. */

import { AsyncLocalStorage } from "node:async_hooks";
import { errorFor } from "./outcome.ts";
import { UserClock } from "./user_clock.ts";

export interface ExecutionLimits {
  /**
   * Milliseconds that it may compute: a query or mutation in all, others without a sign of life (a syscall, a turn of the
   * event loop).
   */
  readonly busyMs: number;
  /** Whether the time that it computes adds up. */
  readonly addsUp: boolean;
  /** Milliseconds between start and end in which the event loop never turned. */
  readonly totalMs: number;
  /** Milliseconds that the promise may stay pending while nothing runs. */
  readonly idleMs: number;
  /** What a promise that stays pending is reported as. */
  readonly idleMessage: string;
}

/** Thrown for code that was ended; its text reaches clients as it is. */
export class EndedError extends Error {
  readonly failure = "ended";
}

/** The error of an operation that is dropped with the action that did not await it; no code of the app sees it. */
export function dropped(): EndedError {
  return new EndedError("The action that started this has ended");
}

// get-convex/convex-backend crates/isolate/src/termination.rs
export function timedOut(limitMs: number): EndedError {
  return new EndedError(`Function execution timed out (maximum duration: ${limitMs / 1000}s)`);
}

export class Execution {
  readonly limits: ExecutionLimits;
  readonly startedMs = performance.now();
  readonly clock = new UserClock();
  aliveMs = this.startedMs;
  /** CPU time of the main thread when the execution was first looked at. */
  suspectedCpuMs: number | null = null;
  /** Unhandled rejections of promises; null where they are not collected. */
  rejections: Error[] | null = null;
  /** Whether it ends with the first of them, instead of when it is through. */
  failsAtOnce = false;
  /** Functions that it called and that have not ended. */
  calls = 0;
  /** To be called when it has ended. */
  readonly endings: (() => void)[] = [];
  hasEnded = false;
  readonly expire: (error: Error) => void;

  constructor(limits: ExecutionLimits, expire: (error: Error) => void) {
    this.limits = limits;
    this.expire = expire;
  }
}

/** The execution that the running code belongs to. */
export const running = new AsyncLocalStorage<Execution>();

/** Waits for the next turn of the event loop. */
export function ownTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Has `end` called when the running execution has ended, however it did. */
export function whenEnded(end: () => void): void {
  running.getStore()?.endings.push(end);
}

/**
 * Runs a query or mutation to the end of everything that it started: promises
 * that nobody awaits run too, and fail the function when they are rejected.
 * get-convex/convex-backend crates/isolate/src/environment/udf/mod.rs
 */
export async function settled<T>(run: () => Promise<T>): Promise<T> {
  const execution = running.getStore();
  if (execution) execution.rejections ??= [];
  const result = await run();
  // All they can wait for are microtasks, and those come before the next turn.
  await ownTurn();
  const [rejected] = execution?.rejections ?? [];
  if (rejected !== undefined) throw rejected;
  return result;
}

/**
 * Runs an action, which the first unhandled rejection of its promises ends.
 * get-convex/convex-backend crates/isolate/src/environment/action/mod.rs
 */
export async function endedByRejections<T>(run: () => Promise<T>): Promise<T> {
  const execution = running.getStore();
  if (execution) execution.failsAtOnce = true;
  const result = await run();
  // One that is rejected by now counts before the result does.
  await ownTurn();
  return result;
}

/** Counts a function that the running one called. */
export async function called<T>(call: Promise<T>): Promise<T> {
  const execution = running.getStore();
  if (!execution) return await call;
  execution.calls += 1;
  try {
    return await call;
  } finally {
    execution.calls -= 1;
  }
}

/**
 * Runs a function to the end of all that it called: one that ended later would find its transaction gone, or another
 * in its place.
 */
export async function withItsCalls<T>(run: () => Promise<T>): Promise<T> {
  const execution = running.getStore();
  try {
    return await run();
  } finally {
    while (execution && !execution.hasEnded && execution.calls > 0) await ownTurn();
  }
}

/** Hands an unhandled rejection to the execution that caused it; false when there is none. */
export function reportRejection(reason: unknown): boolean {
  const execution = running.getStore();
  if (!execution) return false;
  if (execution.failsAtOnce) execution.expire(errorFor(reason));
  else execution.rejections?.push(errorFor(reason));
  return execution.failsAtOnce || execution.rejections !== null;
}

/** Notes that the running execution does something for its time. */
export function signOfLife(): void {
  const execution = running.getStore();
  if (!execution) return;
  execution.aliveMs = performance.now();
  execution.suspectedCpuMs = null;
}
