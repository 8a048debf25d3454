/** Waiting for what happens in the background, for as long as it needs and no longer. */

export interface Patience {
  /** What is awaited, in words; opens the message of the failure. */
  what?: string;
  /**
   * Longest wait in milliseconds on a machine with time for us; a tenth of it after a test failed that waited in
   * vain: nothing can make the project pass then.
   */
  timeoutMs?: number;
  /** Pause between two attempts in milliseconds. */
  everyMs?: number;
}

interface Task {
  result?: { state?: string };
}

// A project that keeps one test waiting does so with the next ones, and a grader has no time for all of them.
const waitedInVain: Task[] = [];

// On a busy machine there is less time between two looks than the clock says: a wait goes on until this share of
// the attempts was made that it has room for.
const SHARE_OF_ATTEMPTS = 1 / 3;

/** The test that vitest runs at the moment. */
const current = (): Task | undefined =>
  (globalThis as { __vitest_worker__?: { current?: Task } }).__vitest_worker__?.current;
const hasFailed = (): boolean => waitedInVain.some(({ result }) => result?.state === "fail");

/**
 * Repeats `check` until it holds and returns its value.
 *
 * It holds when it neither throws nor returns (or resolves to) `false` or `null`, so both an assertion and a
 * condition will do. The error after the last attempt says what was seen then.
 */
export async function eventually<T>(
  check: () => T | Promise<T>,
  patience: Patience = {},
): Promise<Exclude<T, false | null>> {
  const { what = "what the task asks for", everyMs = 15 } = patience;
  const timeoutMs = (patience.timeoutMs ?? 2000) / (hasFailed() ? 10 : 1);
  const deadline = performance.now() + timeoutMs;
  const leastAttempts = (timeoutMs / everyMs) * SHARE_OF_ATTEMPTS;
  for (let attempts = 1; ; attempts++) {
    const attempt = await outcome(check);
    if (attempt.holds) return attempt.value as Exclude<T, false | null>;
    if (performance.now() >= deadline && attempts >= leastAttempts) {
      const task = current();
      if (task) waitedInVain.push(task);
      throw new Error(`Waited ${timeoutMs} ms for ${what}. Last seen: ${attempt.seen}`, { cause: attempt.cause });
    }
    await new Promise((resume) => setTimeout(resume, everyMs));
  }
}

type Observation<T> = { holds: true; value: T } | { holds: false; seen: string; cause?: unknown };

async function outcome<T>(check: () => T | Promise<T>): Promise<Observation<T>> {
  try {
    const value = await check();
    return value === false || value === null ? { holds: false, seen: String(value) } : { holds: true, value };
  } catch (error) {
    return { holds: false, seen: error instanceof Error ? error.message : String(error), cause: error };
  }
}
