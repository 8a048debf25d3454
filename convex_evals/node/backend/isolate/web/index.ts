/**
 * The classes and functions of the web that Convex's default runtime offers, made of the context's own objects.
 *
 * A module of them is loaded when the app uses the first of its names: most calls use none.
 * https://docs.convex.dev/functions/runtimes#default-convex-runtime
 */

type Module = Readonly<Record<string, unknown>>;

const STREAMS = [
  "ReadableStream",
  "ReadableStreamBYOBReader",
  "ReadableStreamDefaultReader",
  "TransformStream",
  "WritableStream",
  "WritableStreamDefaultWriter",
];

// `require` is esbuild's: the module is a part of this script that runs when it is asked for.
/* eslint-disable @typescript-eslint/no-require-imports */
const MODULES: readonly (readonly [names: readonly string[], load: () => Module])[] = [
  [["AsyncLocalStorage", "AsyncResource"], () => require("./async_hooks.ts") as Module],
  [["FormData"], () => require("./form_data.ts") as Module],
  [["Headers"], () => require("./headers.ts") as Module],
  [["Request"], () => require("./request.ts") as Module],
  [["Response"], () => require("./response.ts") as Module],
  [["URL", "URLSearchParams"], () => require("./url.ts") as Module],
  [["DOMException"], () => require("./dom_exception.ts") as Module],
  [["Event", "EventTarget"], () => require("./events.ts") as Module],
  [["Crypto", "CryptoKey", "SubtleCrypto", "crypto"], () => require("./crypto.ts") as Module],
  [
    ["Performance", "PerformanceEntry", "PerformanceMark", "PerformanceMeasure", "performance"],
    () => require("./performance.ts") as Module,
  ],
  [["AbortController", "AbortSignal"], () => require("./abort.ts") as Module],
  [["Blob", "File"], () => require("./blob.ts") as Module],
  [["TextDecoder", "TextEncoder"], () => require("./text.ts") as Module],
  [["TextDecoderStream", "TextEncoderStream"], () => require("./text_streams.ts") as Module],
  [["atob", "btoa"], () => require("./base64.ts") as Module],
  [["structuredClone"], () => require("./structured_clone.ts") as Module],
  [STREAMS, () => require("./streams.ts") as Module],
];
/* eslint-enable @typescript-eslint/no-require-imports */

const HIDDEN: ReadonlySet<string> = new Set([
  "AsyncLocalStorage",
  "AsyncResource",
  "Crypto",
  "Performance",
  "PerformanceEntry",
  "PerformanceMark",
  "PerformanceMeasure",
  "SubtleCrypto",
]);

/** Defines the globals; each becomes an ordinary property when it is used or assigned. */
export function defineWebGlobals(): void {
  for (const [names, load] of MODULES) {
    for (const name of names) {
      const enumerable = !HIDDEN.has(name);
      const define = (value: unknown): void => {
        Object.defineProperty(globalThis, name, { value, writable: true, enumerable, configurable: true });
      };
      Object.defineProperty(globalThis, name, {
        get: () => {
          const value = load()[name];
          define(value);
          return value;
        },
        set: define,
        enumerable,
        configurable: true,
      });
    }
  }
}
