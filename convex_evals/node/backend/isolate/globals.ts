/** The globals that a context makes for itself, from what the host gives it. */

import { consoleWith } from "./console_object.ts";
import { deterministicGlobals, notAllowed } from "./determinism.ts";
import { adoptHostErrors } from "./host_errors.ts";
import type { Surroundings } from "./types.ts";
import { defineWebGlobals } from "./web/index.ts";

/** Defines them. `isLoading` tells whether modules are still being loaded, and no function runs yet. */
export function installGlobals(surroundings: Surroundings, isLoading: () => boolean): void {
  const { kind, seed, log } = surroundings;
  const isTransaction = kind === "query" || kind === "mutation";
  define({
    self: globalThis,
    console: consoleWith(log),
    process: { env: environment(surroundings) },
    Convex: Object.freeze(syscalls(surroundings)),
    ...(isTransaction ? deterministicGlobals(seed) : actionGlobals(surroundings, isLoading)),
  });
  defineWebGlobals();
  adoptHostErrors();
}

function define(globals: Readonly<Record<string, unknown>>): void {
  for (const name of Object.keys(globals)) {
    const open = name !== "Convex";
    Object.defineProperty(globalThis, name, {
      value: globals[name],
      writable: open,
      enumerable: true,
      configurable: open,
    });
  }
}

// Variables are looked up by their names; nothing lists them, and none can be set.
// get-convex/convex-backend npm-packages/udf-runtime/src/00_misc.ts
function environment({ env, missing }: Surroundings): object {
  const variables = new Map(Object.entries(JSON.parse(env) as Record<string, string>));
  return new Proxy(
    {},
    {
      get: (target, name, receiver) => {
        if (typeof name !== "string") return Reflect.get(target, name, receiver) as unknown;
        const value = variables.get(name);
        if (value === undefined) missing?.(name);
        return value;
      },
    },
  );
}

type Start = (callback: (...args: unknown[]) => void, delayMs?: unknown, ...args: unknown[]) => number;

// get-convex/convex-backend npm-packages/udf-runtime/src/02_timers.ts
function timer(surroundings: Surroundings, repeats: boolean): Start {
  return (callback, delayMs, ...args) =>
    surroundings.startTimer(() => callback(...args), delayMs ? Number(delayMs) : 0, repeats);
}

function actionGlobals(surroundings: Surroundings, isLoading: () => boolean): Record<string, unknown> {
  const timeOrigin = Date.now();
  const hostNow = performance.now.bind(performance);
  const startedMs = hostNow();
  return {
    setTimeout: timer(surroundings, false),
    setInterval: timer(surroundings, true),
    clearTimeout: (id: unknown) => surroundings.clearTimer(Number(id)),
    clearInterval: (id: unknown) => surroundings.clearTimer(Number(id)),
    performance: { now: () => hostNow() - startedMs, timeOrigin },
    fetch: async (...args: unknown[]): Promise<Response> => {
      if (isLoading()) notAllowed("fetch()")();
      return await new Promise((resolve, reject) => surroundings.fetch(args, resolve, reject));
    },
  };
}

function syscalls({ syscall, asyncSyscall, jsSyscall }: Surroundings): object {
  return {
    syscall: (op: string, args: string): string => {
      const result = syscall(op, args);
      if ("value" in result) return result.value;
      throw failure(result.message, result.data);
    },
    asyncSyscall: (op: string, args: string): Promise<string> =>
      new Promise((resolve, reject) => {
        asyncSyscall(op, args, resolve, (message, data) => reject(failure(message, data)));
      }),
    jsSyscall: (op: string, { blob, ...rest }: Record<string, unknown>): Promise<unknown> =>
      new Promise((resolve, reject) => {
        jsSyscall(op, JSON.stringify(rest), blob, resolve, (message, data) => reject(failure(message, data)));
      }),
  };
}

// As the library in the app's bundle expects it: data is JSON.
function failure(message: string, data: string | null): Error {
  return Object.assign(new Error(message), data === null ? {} : { data: JSON.parse(data) as unknown });
}
