/**
 * Web APIs (fetch, URL, streams) are the host's and throw the host's errors.
 * `catch (e) { if (e instanceof Error) ... }` is common in app code, so the
 * context's error classes recognise their namesakes from the host.
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
        // Subclasses inherit this method; only the class itself has a namesake.
        return this === errorClass && isNamesake(candidate, errorClass);
      },
    });
  }
}

function isNamesake(candidate: unknown, errorClass: ErrorConstructor): boolean {
  if (Object.prototype.toString.call(candidate) !== "[object Error]") return false;
  if (errorClass === Error) return true;
  for (let proto: object | null = Object.getPrototypeOf(candidate); proto !== null; proto = Object.getPrototypeOf(proto)) {
    if ((proto as Error).name === errorClass.name && Object.hasOwn(proto, "name")) return true;
  }
  return false;
}
