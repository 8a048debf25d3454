/**
 * Errors cross the border between contexts: convex-test has one of its own beside the backend's, and the modules of "use node"
 * actions are loaded in one. `catch (e) { if (e instanceof Error) ... }` is common code, so the error classes of each side
 * recognise their namesakes from the other.
 *
 * Every bundle has a copy of ConvexError, which extends Error and so inherits what it answers to `instanceof` from here.
 */

const ERROR_CLASSES = [Error, TypeError, RangeError, SyntaxError, EvalError, ReferenceError, URIError];

/** Makes `instanceof` hold for errors of the host. */
export function adoptHostErrors(): void {
  const ordinary = Function.prototype[Symbol.hasInstance];
  for (const errorClass of ERROR_CLASSES) {
    Object.defineProperty(errorClass, Symbol.hasInstance, {
      configurable: true,
      value(this: unknown, candidate: unknown): boolean {
        if (ordinary.call(this as (...args: unknown[]) => unknown, candidate)) return true;
        if (isConvexErrorClass(this)) {
          return typeof candidate === "object" && candidate !== null && Symbol.for("ConvexError") in candidate;
        }
        // Subclasses inherit this method; only the class itself has a namesake.
        return this === errorClass && isNamesake(candidate, errorClass);
      },
    });
  }
}

// Bundlers number the copies of a name.
function isConvexErrorClass(value: unknown): boolean {
  return typeof value === "function" && /^_?ConvexError\d*$/.test(value.name);
}

function isNamesake(candidate: unknown, errorClass: ErrorConstructor): boolean {
  if (Object.prototype.toString.call(candidate) !== "[object Error]") return false;
  if (errorClass === Error) return true;
  for (let proto = parentOf(candidate); proto !== null; proto = parentOf(proto)) {
    if ((proto as Error).name === errorClass.name && Object.hasOwn(proto, "name")) return true;
  }
  return false;
}

function parentOf(value: unknown): object | null {
  return Object.getPrototypeOf(value) as object | null;
}
