/** The memory that the watchdog's two threads share. */

export const CELL = { beat: 0, verdict: 1, sent: 2 } as const;
export const CELLS = 3;

/** Values of the `verdict` cell; 0 while the main thread has not answered, `later` when it must not be ended just here. */
export const VERDICT = { spare: 1, end: 2, later: 3 } as const;

/** The property of the main thread's `globalThis` that holds `judge`. */
export const JUDGE = "__convexEmbeddedJudge";

export type WatchdogMessage = "terminated";

/** What the thread is started with. */
export interface WatchdogSetup {
  readonly memory: SharedArrayBuffer;
  readonly cell: typeof CELL;
  readonly verdict: typeof VERDICT;
  readonly judge: string;
}
