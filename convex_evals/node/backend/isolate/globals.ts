/** The globals that a context makes for itself, from what the host gives it. */

import { consoleWith } from "./console_object.ts";
import { dateOn, formatOn } from "./date.ts";
import { deterministicGlobals, notAllowed } from "./determinism.ts";
import { asked } from "./host.ts";
import { completeLanguage } from "./language/index.ts";
import type { Phases } from "./phases.ts";
import type { Surroundings, SyscallResult } from "./types.ts";
import { defineWebGlobals } from "./web/index.ts";
import { blobs, fetching } from "./web/lazy.ts";
import type { RequestInit } from "./web/request.ts";
import type { Response } from "./web/response.ts";
import { setSources } from "./web/sources.ts";

/** Defines them. */
export function installGlobals(surroundings: Surroundings, phases: Phases): void {
  completeLanguage();
  setSources(phases);
  Math.random = () => phases.random();
  formatOn(() => phases.dateNow());
  const log: Surroundings["log"] = (level, text) => {
    asked(() => surroundings.log(level, text));
  };
  define({
    self: globalThis,
    console: consoleWith(log),
    process: { env: environment(surroundings) },
    Convex: Object.freeze(syscalls(surroundings)),
    ...(surroundings.transactionMs === null ? actionGlobals(surroundings, phases) : deterministicGlobals()),
  });
  Object.defineProperty(globalThis, "Date", {
    value: dateOn(() => phases.dateNow()),
    writable: true,
    configurable: true,
  });
  defineWebGlobals();
  removeNodesOwn();
}

/** Node adds functions to every context that answer with errors of the host; Convex's runtime has none of them. */
function removeNodesOwn(): void {
  for (const name of ["compileStreaming", "instantiateStreaming"]) Reflect.deleteProperty(WebAssembly, name);
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
        if (value === undefined) asked(() => missing?.(name));
        return value;
      },
    },
  );
}

type Start = (callback: (...args: unknown[]) => void, delayMs?: unknown, ...args: unknown[]) => number;

// get-convex/convex-backend npm-packages/udf-runtime/src/02_timers.ts
function timer(surroundings: Surroundings, repeats: boolean): Start {
  return (callback, delayMs, ...args) => {
    const ms = delayMs ? Number(delayMs) : 0;
    return asked(() => surroundings.startTimer(() => callback(...args), ms, repeats));
  };
}

function clearTimer(surroundings: Surroundings): (id: unknown) => void {
  return (id) => {
    const cleared = Number(id);
    asked(() => surroundings.clearTimer(cleared));
  };
}

function actionGlobals(surroundings: Surroundings, phases: Phases): Record<string, unknown> {
  return {
    setTimeout: timer(surroundings, false),
    setInterval: timer(surroundings, true),
    clearTimeout: clearTimer(surroundings),
    clearInterval: clearTimer(surroundings),
    fetch: async (input: string, init?: RequestInit): Promise<Response> => {
      if (phases.isLoading) notAllowed("fetch()")();
      const { fetchWith } = fetching();
      const { fetch } = surroundings;
      return await fetchWith(fetch, input, init);
    },
  };
}

function syscalls({ syscall, asyncSyscall, jsSyscall }: Surroundings): object {
  return {
    syscall: (op: string, args: string): string => {
      let result: SyscallResult | undefined;
      asked(() => {
        result = syscall(op, args);
      });
      return valueOf(result!);
    },
    asyncSyscall: (op: string, args: string): Promise<string> =>
      new Promise((resolve, reject) => {
        asked(() => asyncSyscall(op, args, resolve, (message, data) => reject(failure(message, data))));
      }),
    jsSyscall: (op: string, { blob, ...rest }: Record<string, unknown>): Promise<unknown> =>
      new Promise((resolve, reject) => {
        const { Blob, bytesOfBlob, typeOfBlob } = blobs();
        const sent = bytesOfBlob(blob) ?? null;
        let received: Uint8Array<ArrayBuffer>;
        const args = JSON.stringify(rest);
        asked(() =>
          jsSyscall(
            op,
            args,
            sent,
            sent ? typeOfBlob(blob) : "",
            (length) => (received = new Uint8Array(length)),
            (value, type) => resolve(type === null ? JSON.parse(value) : new Blob([received], { type })),
            (message, data) => reject(failure(message, data)),
          ),
        );
      }),
  };
}

function valueOf(result: SyscallResult): string {
  if ("value" in result) return result.value;
  throw failure(result.message, result.data);
}

// As the library in the app's bundle expects it: data is JSON.
function failure(message: string, data: string | null): Error {
  return Object.assign(new Error(message), data === null ? {} : { data: JSON.parse(data) as unknown });
}
