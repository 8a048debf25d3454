/**
 * Closes the host's realm, should code of an app get hold of one of its objects. None is handed into a context, but V8 calls
 * Node for the stack of an error, and where that uses up the stack, what reaches the app is the host's RangeError. So nothing
 * that leads on from an error can keep anything, the limit of stack traces included, and neither can `util.inspect`, which
 * Node hands to what it inspects.
 */

import { inspect } from "node:util";
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
  lock([...intrinsics(), inspect], [globalThis, process, globalThis.performance]);
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
