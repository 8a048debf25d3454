/**
 * How long functions may run. Convex's own limits are in get-convex/convex-backend
 * crates/common/src/knobs.rs and on https://docs.convex.dev/production/state/limits.
 */

import type { FunctionLimits } from "./app/host.ts";

export interface FunctionTimes {
  /** A query or mutation that computes, in all: CPU time, without what it awaits. */
  readonly transactionMs: number;
  /** A query or mutation as a whole, syscalls included. */
  readonly transactionTotalMs: number;
  /**
   * An action that computes without letting anything else run. Convex allows
   * 600 s of it; here every other function waits for it.
   */
  readonly actionBusyMs: number;
  /** An action as a whole. */
  readonly actionMs: number;
}

const CONVEX_TIMES: FunctionTimes = {
  transactionMs: 1000,
  transactionTotalMs: 15_000,
  actionBusyMs: 10_000,
  actionMs: 600_000,
};

/** The limits in the watchdog's terms. */
export function functionLimits(changes: Partial<FunctionTimes> = {}): FunctionLimits {
  const { transactionMs, transactionTotalMs, actionBusyMs, actionMs } = { ...CONVEX_TIMES, ...changes };
  return {
    transaction: {
      busyMs: transactionMs,
      addsUp: true,
      totalMs: transactionTotalMs,
      idleMs: transactionMs,
      idleMessage: "Returned promise will never resolve",
    },
    action: {
      busyMs: actionBusyMs,
      addsUp: false,
      totalMs: actionBusyMs,
      idleMs: actionMs,
      idleMessage: `Function execution timed out (maximum duration: ${actionMs / 1000}s)`,
    },
  };
}
