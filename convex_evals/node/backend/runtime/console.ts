/** `console` of the app's context: lines go to the caller's `logLines`. */

import { host } from "embedded:host";
import { consoleWith } from "./console_object.ts";

/** Builds the object that becomes `globalThis.console`. */
export function appConsole(): Record<string, (...args: unknown[]) => void> {
  return consoleWith((level, text) => host.log(level, text));
}
