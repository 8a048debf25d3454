/**
 * Contexts that are made while the process waits for the next call. They hold the language and our own script, which
 * takes as long as the rest of a small call; no code of an app has run in them.
 */

import type vm from "node:vm";
import type { IsolateEntry } from "../isolate/types.ts";
import { detached } from "../timers.ts";
import { createContext } from "./globals.ts";
import { isolateEntry } from "./isolate_loader.ts";

export interface FreshContext {
  readonly context: vm.Context;
  readonly entry: IsolateEntry;
}

/** A call of an app's function that calls one of a component needs two. */
const KEPT = 2;
/** Milliseconds without a new call: earlier, making one would delay the answer to the last. */
const QUIET_MS = 1;

const spares: FreshContext[] = [];
let timer: NodeJS.Timeout | undefined;

/** A context that nothing has used. */
export function freshContext(): FreshContext {
  const taken = spares.pop() ?? prepared();
  refillSoon();
  return taken;
}

function prepared(): FreshContext {
  const context = createContext();
  return { context, entry: isolateEntry(context) };
}

function refillSoon(): void {
  if (timer) timer.refresh();
  else timer = detached(() => setTimeout(refill, QUIET_MS).unref());
}

function refill(): void {
  spares.push(prepared());
  if (spares.length < KEPT) timer?.refresh();
}
