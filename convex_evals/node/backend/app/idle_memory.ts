/** Gives memory back that start-up, deployments and calls needed for a moment. */

import v8 from "node:v8";
import vm from "node:vm";
import { detached } from "../timers.ts";

type Flavor = "regular" | "last-resort";
type Collect = (options: { type: "major"; execution: "sync"; flavor: Flavor }) => void;

const QUIET_MS = 5_000;
/** Each call leaves a context or several, and V8 lets gigabytes of them pile up while every call becomes slower. */
const CALLS_BETWEEN_COLLECTIONS = 500;

let timer: NodeJS.Timeout | undefined;
let collect: Collect | null = null;
let calls = 0;

/** Collects garbage once it has been quiet for a moment; a later call restarts the wait. */
export function releaseMemorySoon(): void {
  clearTimeout(timer);
  timer = detached(() => setTimeout(releaseMemory, QUIET_MS).unref());
}

/**
 * Notes that a function is called. Restarts the wait, if there is one: what is collected then includes the compiled code of
 * functions that are about to run.
 */
export function noteCall(): void {
  timer?.refresh();
  calls += 1;
  if (calls % CALLS_BETWEEN_COLLECTIONS === 0) detached(() => setImmediate(() => collectGarbage("regular")));
}

// The collector runs on its own only when it needs room, which an idle process
// never does: what has become garbage would stay resident for ever.
function releaseMemory(): void {
  timer = undefined;
  collectGarbage("last-resort");
}

function collectGarbage(flavor: Flavor): void {
  if (!collect) {
    v8.setFlagsFromString("--expose-gc");
    collect = vm.runInNewContext("gc") as Collect;
    v8.setFlagsFromString("--no-expose-gc");
  }
  collect({ type: "major", execution: "sync", flavor });
}
