/** A `console` whose lines go to a function. */

import type { LogLevel } from "../runtime_types.ts";
import { inspect } from "./inspect_value.ts";

/**
 * What becomes `globalThis.console` of the app's code: these methods, and no others.
 * get-convex/convex-backend npm-packages/udf-runtime/src/02_console.ts
 */
export function consoleWith(
  log: (level: LogLevel, text: string) => void,
): Record<string, (...args: unknown[]) => void> {
  const at =
    (level: LogLevel) =>
    (...args: unknown[]) =>
      log(level, args.map((arg) => inspect(arg)).join(" "));
  const timers = new Map<string, number>();
  const elapsed = (label: string): string => `${label}: ${Date.now() - (timers.get(label) ?? Date.now())}ms`;
  return {
    log: at("LOG"),
    info: at("INFO"),
    debug: at("DEBUG"),
    warn: at("WARN"),
    error: at("ERROR"),
    trace: at("LOG"),
    time: (label: unknown = "default") => void timers.set(String(label), Date.now()),
    timeLog: (label: unknown = "default", ...args: unknown[]) =>
      log("INFO", [elapsed(String(label)), ...args.map((arg) => inspect(arg))].join(" ")),
    timeEnd: (label: unknown = "default") => {
      log("INFO", elapsed(String(label)));
      timers.delete(String(label));
    },
  };
}
