/** Loads the script of `isolate/entry.ts` into a context. */

import { fileURLToPath } from "node:url";
import vm from "node:vm";
import { cachedScript, readScript } from "../../code_cache.ts";
import type { IsolateEntry } from "../isolate/types.ts";
import { BUNDLED_ISOLATE } from "./bundled_runtime.ts";

const SOURCE = fileURLToPath(new URL("../isolate/entry.ts", import.meta.url));

let script: vm.Script | undefined;

/** Has to be called once, before the first context is made. */
export async function prepareIsolates(): Promise<void> {
  if (script) return;
  if (BUNDLED_ISOLATE !== null) script = cachedScript(readScript(BUNDLED_ISOLATE), BUNDLED_ISOLATE, SOURCE);
  else {
    const { isolateText } = await import("./isolate_build.ts");
    script = new vm.Script(await isolateText(), { filename: SOURCE });
  }
}

/** What the script exports, as objects of `context`. */
export function isolateEntry(context: vm.Context): IsolateEntry {
  if (!script) throw new Error("isolates are not prepared");
  const module = { exports: {} };
  const run = script.runInContext(context) as (require: null, module: { exports: object }, exports: object) => void;
  run(null, module, module.exports);
  return module.exports as IsolateEntry;
}
