/** The `console` of an action for Node.js. */

import { Console } from "node:console";
import { Writable } from "node:stream";
import { inspect } from "node:util";
import { consoleTimers } from "../isolate/console_object.ts";
import type { LogLevel } from "../runtime_types.ts";

// Longer lines are cut by whoever reads them.
const SHOWN = { maxStringLength: 32768, customInspect: true } as const;

/**
 * Node's own, whose lines go to a function: what its other methods say, they say with these. What they write themselves
 * (`dir`, `dirxml`) nobody sees. get-convex/convex-backend npm-packages/node-executor/src/executor.ts (setupConsole)
 */
export function nodeConsole(log: (level: LogLevel, text: string) => void): Console {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const say = (level: LogLevel, ...args: unknown[]): void =>
    log(level, args.map((arg) => inspect(arg, SHOWN)).join(" "));
  return Object.assign(new Console({ stdout: nowhere, stderr: nowhere }), {
    log: (...args: unknown[]) => say("LOG", ...args),
    info: (...args: unknown[]) => say("INFO", ...args),
    debug: (...args: unknown[]) => say("DEBUG", ...args),
    warn: (...args: unknown[]) => say("WARN", ...args),
    error: (...args: unknown[]) => say("ERROR", ...args),
    ...consoleTimers(say),
  });
}
