/**
 * The contexts: those of an app have nothing of the host, and make the globals of the web themselves (`isolate/web`); the
 * engine, which runs no code of an app, uses the host's.
 */

import vm from "node:vm";

const ENGINE_GLOBALS: readonly string[] = [
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
  // The host's functions return and expect its buffers, so the context has no others.
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
];

// With the first of them Node loads an HTTP client, which takes longer than the rest of a backend's start.
const LAZY_GLOBALS: ReadonlySet<string> = new Set(["FormData", "Headers", "Request", "Response"]);

function defined(value: unknown): PropertyDescriptor {
  return { value, writable: true, enumerable: true, configurable: true };
}

/** A global that is there from the beginning, and is asked for when somebody uses it. */
function definedLazily(name: string): PropertyDescriptor {
  return {
    get(this: object) {
      const value = (globalThis as Record<string, unknown>)[name];
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

/** A context with the language itself, and nothing of the host. */
export function createContext(): vm.Context {
  // Without an object behind them: each use of a global would ask that object first, in Node's own code.
  return vm.createContext(vm.constants.DONT_CONTEXTIFY, {
    name: "convex-app",
    codeGeneration: { strings: false, wasm: true },
  });
}

/** A context for the engine. */
export function createEngineContext(): vm.Context {
  const context = createContext();
  for (const name of ENGINE_GLOBALS) {
    const global = LAZY_GLOBALS.has(name)
      ? definedLazily(name)
      : defined((globalThis as Record<string, unknown>)[name]);
    Object.defineProperty(context, name, global);
  }
  return Object.assign(context, { setTimeout, setInterval, clearTimeout, clearInterval });
}
