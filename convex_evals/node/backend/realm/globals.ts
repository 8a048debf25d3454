/** The globals of the host that Convex's default runtime offers beyond the language itself. */

import vm from "node:vm";
import { lockShared } from "./host_lock.ts";

// https://docs.convex.dev/functions/runtimes#default-convex-runtime
const HOST_GLOBALS = [
  "AbortController",
  "AbortSignal",
  "Blob",
  "Crypto",
  "CryptoKey",
  "DOMException",
  "Event",
  "EventTarget",
  "File",
  "FormData",
  "Headers",
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
const LAZY_GLOBALS: ReadonlySet<string> = new Set(["FormData", "Headers", "Request", "Response"]);

type Descriptors = Record<string, PropertyDescriptor>;

function defined(value: unknown): PropertyDescriptor {
  return { value, writable: true, enumerable: true, configurable: true };
}

/** A global that is there from the beginning, and is asked for when somebody uses it. */
function definedLazily(name: string): PropertyDescriptor {
  return {
    get(this: object) {
      const value = (globalThis as Record<string, unknown>)[name];
      lockShared([value]);
      Object.defineProperty(this, name, defined(value));
      return value;
    },
    set(this: object, value: unknown) {
      Object.defineProperty(this, name, defined(value));
    },
    enumerable: true,
    configurable: true,
  };
}

let descriptors: Descriptors | undefined;

// The same for every context, and locked once.
function hostGlobals(): Descriptors {
  if (descriptors) return descriptors;
  const eager = HOST_GLOBALS.filter((name) => !LAZY_GLOBALS.has(name));
  const values = eager.map((name) => (globalThis as Record<string, unknown>)[name]);
  const lazy = HOST_GLOBALS.filter((name) => LAZY_GLOBALS.has(name)).map(
    (name) => [name, definedLazily(name)] as const,
  );
  lockShared([...values, ...lazy.flatMap(([, { get, set }]) => [get, set])]);
  descriptors = Object.fromEntries([...eager.map((name, at) => [name, defined(values[at])] as const), ...lazy]);
  return descriptors;
}

/** Creates a context with the classes and functions of the web. */
export function createContext(): vm.Context {
  // Without an object behind them: each use of a global would ask that object first, in Node's own code.
  const context = vm.createContext(vm.constants.DONT_CONTEXTIFY, {
    name: "convex-app",
    codeGeneration: { strings: false, wasm: true },
  });
  Object.defineProperties(context, hostGlobals());
  return context;
}
