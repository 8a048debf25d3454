/** The globals that Convex's default runtime offers beyond the language itself. */

import vm from "node:vm";
import { lockShared } from "./host_lock.ts";
import { checkInAction, checkNotInTransaction } from "./reach.ts";

// https://docs.convex.dev/functions/runtimes#default-convex-runtime
const HOST_GLOBALS = [
  "AbortController",
  "AbortSignal",
  "Blob",
  "CompressionStream",
  "Crypto",
  "CryptoKey",
  "DOMException",
  "DecompressionStream",
  "Event",
  "EventTarget",
  "File",
  "FormData",
  "Headers",
  "MessageChannel",
  "MessagePort",
  "MessageEvent",
  "ReadableStream",
  "ReadableStreamBYOBReader",
  "ReadableStreamDefaultReader",
  "Request",
  "Response",
  "SubtleCrypto",
  "TextDecoder",
  "TextDecoderStream",
  "TextEncoder",
  "TextEncoderStream",
  "TransformStream",
  "URL",
  "URLSearchParams",
  "WritableStream",
  "WritableStreamDefaultWriter",
  "atob",
  "btoa",
  "clearInterval",
  "clearTimeout",
  "crypto",
  "performance",
  "queueMicrotask",
  "structuredClone",
  // Host APIs return and expect the host's buffers, so the context has no others.
  "ArrayBuffer",
  "BigInt64Array",
  "BigUint64Array",
  "DataView",
  "Float32Array",
  "Float64Array",
  "Int16Array",
  "Int32Array",
  "Int8Array",
  "Uint16Array",
  "Uint32Array",
  "Uint8Array",
  "Uint8ClampedArray",
] as const;

// With the first of them Node loads an HTTP client, which takes longer than the rest of a backend's start.
const LAZY_GLOBALS: ReadonlySet<string> = new Set(["FormData", "Headers", "MessageEvent", "Request", "Response"]);

function define(context: vm.Context, name: string, value: unknown): void {
  Object.defineProperty(context, name, { value, writable: true, enumerable: true, configurable: true });
}

/** A global that is there from the beginning, and is asked for when somebody uses it. */
function defineLazily(context: vm.Context, name: string): void {
  Object.defineProperty(context, name, {
    get() {
      const value = (globalThis as Record<string, unknown>)[name];
      lockShared([value]);
      define(context, name, value);
      return value;
    },
    set: (value: unknown) => define(context, name, value),
    enumerable: true,
    configurable: true,
  });
}

// Timers are numbers in Convex. Their callbacks run as microtasks, because what
// Node calls from its own JavaScript cannot be ended without leaving traces.
function timerFunction(start: typeof setTimeout | typeof setInterval) {
  return (callback: (...args: unknown[]) => void, delayMs?: number, ...args: unknown[]): number => {
    checkNotInTransaction(start.name);
    return Number(start(() => void Promise.resolve().then(() => callback(...args)), delayMs));
  };
}

async function fetchInActions(...args: Parameters<typeof fetch>): Promise<Response> {
  checkInAction("fetch()");
  return await fetch(...args);
}

/** Creates the context in which one deployment's code runs. `env` becomes `process.env`. */
export function createAppContext(env: Record<string, string>): vm.Context {
  // Without an object behind them: each use of a global would ask that object first, in Node's own code.
  const context = vm.createContext(vm.constants.DONT_CONTEXTIFY, {
    name: "convex-app",
    codeGeneration: { strings: false, wasm: true },
  });
  for (const name of HOST_GLOBALS) {
    if (LAZY_GLOBALS.has(name)) defineLazily(context, name);
    else define(context, name, (globalThis as Record<string, unknown>)[name]);
  }
  lockShared(
    HOST_GLOBALS.filter((name) => !LAZY_GLOBALS.has(name)).map((name) => (globalThis as Record<string, unknown>)[name]),
  );
  define(context, "fetch", fetchInActions);
  define(context, "setTimeout", timerFunction(setTimeout));
  define(context, "setInterval", timerFunction(setInterval));
  define(context, "process", { env });
  define(context, "self", context["globalThis"]);
  return context;
}
