/**
 * What the language has in Convex's V8 (14.9) and not in that of Node.js: it is defined where it is missing. The code keeps
 * what it uses of the language, since the app's code can replace it.
 * get-convex/convex-backend Cargo.toml (deno_core)
 */

import { bytesFromText, bytesToText } from "./byte_texts.ts";
import { mapMethods, weakMapMethods } from "./collections.ts";
import { concatenation, Iterators } from "./iterators.ts";
import { exactSum } from "./sum_precise.ts";

/** Defines it; has to run before code of the app. */
export function completeLanguage(): void {
  define(Uint8Array, bytesFromText);
  define(Uint8Array.prototype, bytesToText);
  define(Map.prototype, mapMethods);
  define(WeakMap.prototype, weakMapMethods);
  define(Math, exactSum);
  define(Iterators, concatenation);
}

/** As the language has its functions: not enumerable, and no constructors, which methods of a literal are not. */
function define(target: object, methods: object): void {
  for (const name of Object.keys(methods)) {
    if (Object.hasOwn(target, name)) continue;
    const value = (methods as Readonly<Record<string, unknown>>)[name];
    Object.defineProperty(target, name, { value, writable: true, enumerable: false, configurable: true });
  }
}
