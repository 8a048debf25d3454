/**
 * The classes and functions of the web that Convex's default runtime offers, made of the context's own objects.
 *
 * A module of them is loaded when the app uses the first of its names: most calls use none.
 * https://docs.convex.dev/functions/runtimes#default-convex-runtime
 */

type Module = Readonly<Record<string, unknown>>;

// `require` is esbuild's: the module is a part of this script that runs when it is asked for.
/* eslint-disable @typescript-eslint/no-require-imports */
const MODULES: readonly (readonly [names: readonly string[], load: () => Module])[] = [
  [["AsyncLocalStorage", "AsyncResource"], () => require("./async_hooks.ts") as Module],
];
/* eslint-enable @typescript-eslint/no-require-imports */

const HIDDEN: ReadonlySet<string> = new Set(["AsyncLocalStorage", "AsyncResource"]);

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
