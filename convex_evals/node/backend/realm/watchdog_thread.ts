/**
 * The watchdog's clock; see `watchdog.ts`. It is loaded from its text, without
 * imports of ours: a thread that strips types for itself is twice as large.
 */

import { Session } from "node:inspector";
import { parentPort, workerData } from "node:worker_threads";
import type { WatchdogMessage, WatchdogSetup } from "./watchdog_cells.ts";

// Longer than two beats: a turn that takes this long is rare without a reason.
const SUSPICIOUS_MS = 450;
const LOOK_EVERY_MS = 100;
const LATER_MS = 1;
// The main thread may be inside native code that cannot be interrupted.
const ANSWER_MS = 5000;

const { memory, cell, verdict, judge } = workerData as WatchdogSetup;
const cells = new Int32Array(memory);
const inspector = new Session();
inspector.connectToMainThread();

for (;;) {
  const beat = Atomics.load(cells, cell.beat);
  if (Atomics.wait(cells, cell.beat, beat, SUSPICIOUS_MS) !== "timed-out") continue;
  while (Atomics.load(cells, cell.beat) === beat) {
    const answer = endWhatRuns();
    if (answer === verdict.end) break;
    Atomics.wait(cells, cell.beat, beat, answer === verdict.later ? LATER_MS : LOOK_EVERY_MS);
  }
}

/** Asks the main thread, and ends what runs there if it says so; returns its answer, or 0. */
function endWhatRuns(): number {
  Atomics.store(cells, cell.verdict, 0);
  Atomics.store(cells, cell.sent, 0);
  inspector.post("Runtime.evaluate", { expression: `globalThis.${judge}()`, silent: true }, () => {});
  Atomics.wait(cells, cell.verdict, 0, ANSWER_MS);
  const answer = Atomics.load(cells, cell.verdict);
  if (answer !== verdict.end) return answer;
  inspector.post("Runtime.terminateExecution", () => {});
  Atomics.store(cells, cell.sent, 1);
  Atomics.notify(cells, cell.sent);
  parentPort?.postMessage("terminated" satisfies WatchdogMessage);
  return answer;
}
