/**
 * Closes the host's realm, should code of an app ever get hold of one of its objects: none is handed into a context.
 */

import { adoptHostErrors } from "./host_errors.ts";
import { intrinsics, lock } from "./lock_intrinsics.ts";

let locked = false;

/** Locks the language's objects. From here on they are what they are now, in this process. */
export function lockHost(): void {
  if (locked) return;
  locked = true;
  adoptHostErrors();
  refuseToCompile();
  // Node's own code changes the ones that are spared.
  lock(intrinsics(), [globalThis, process, globalThis.performance]);
}

/**
 * The constructor of our functions must not be a way to compile others. V8 has a flag for that,
 * under which Node would have to compile all its own modules at each start.
 */
function refuseToCompile(): void {
  for (const example of [function () {}, function* () {}, async function () {}, async function* () {}]) {
    const prototype = Object.getPrototypeOf(example) as object;
    const refuse = function (): never {
      throw new EvalError("Code generation from strings disallowed for this context");
    };
    Object.defineProperty(refuse, "prototype", { value: prototype, writable: false });
    Object.defineProperty(prototype, "constructor", { value: refuse, writable: false, configurable: false });
    if (prototype === Function.prototype) {
      Object.defineProperty(globalThis, "Function", { value: refuse, writable: false, configurable: false });
    }
  }
  Reflect.deleteProperty(globalThis, "eval");
}
