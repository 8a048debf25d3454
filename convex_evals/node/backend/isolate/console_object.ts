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
  return {
    log: at("LOG"),
    info: at("INFO"),
    debug: at("DEBUG"),
    warn: at("WARN"),
    error: at("ERROR"),
    trace: at("LOG"),
    ...consoleTimers((level, text, ...args) => log(level, [text, ...args.map((arg) => inspect(arg))].join(" "))),
  };
}

/** The methods that measure time. get-convex/convex-backend crates/isolate/src/ops/console.rs */
export function consoleTimers(
  say: (level: LogLevel, text: string, ...args: unknown[]) => void,
): Record<"time" | "timeLog" | "timeEnd", (label?: unknown, ...args: unknown[]) => void> {
  const timers = new Map<string, number>();
  const sayElapsed = (name: string, ...args: unknown[]): void => {
    const started = timers.get(name);
    if (started === undefined) say("WARN", `Timer '${name}' does not exist`);
    else say("INFO", `${name}: ${Date.now() - started}ms`, ...args);
  };
  return {
    time: (label = "default") => {
      const name = String(label);
      if (timers.has(name)) say("WARN", `Timer '${name}' already exists`);
      else timers.set(name, Date.now());
    },
    timeLog: (label = "default", ...args) => sayElapsed(String(label), ...args),
    timeEnd: (label = "default") => {
      sayElapsed(String(label));
      timers.delete(String(label));
    },
  };
}
