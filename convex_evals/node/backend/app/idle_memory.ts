/** Gives memory back that start-up and deployments needed for a moment. */

import v8 from "node:v8";
import vm from "node:vm";
import { detached } from "../timers.ts";

type Collect = (options: { type: "major"; execution: "sync"; flavor: "last-resort" }) => void;

const QUIET_MS = 5_000;

let timer: NodeJS.Timeout | undefined;
let collect: Collect | null = null;

/** Collects garbage once it has been quiet for a moment; a later call restarts the wait. */
export function releaseMemorySoon(): void {
  clearTimeout(timer);
  timer = detached(() => setTimeout(releaseMemory, QUIET_MS).unref());
}

/** Restarts the wait, if there is one: what is collected includes the compiled code of functions that are about to run. */
export function putOffRelease(): void {
  timer?.refresh();
}

// The collector runs on its own only when it needs room, which an idle process
// never does: what has become garbage would stay resident for ever.
function releaseMemory(): void {
  timer = undefined;
  if (!collect) {
    v8.setFlagsFromString("--expose-gc");
    collect = vm.runInNewContext("gc") as Collect;
    v8.setFlagsFromString("--no-expose-gc");
  }
  collect({ type: "major", execution: "sync", flavor: "last-resort" });
}
