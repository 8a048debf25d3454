/**
 * `structuredClone`: what V8's own serializer copies, and what it refuses, with a `TypeError` as on Convex.
 * get-convex/convex-backend npm-packages/udf-runtime/src/02_structured_clone.ts, crates/isolate/src/ops/structured_clone.rs
 *
 * A proxy is copied as what it pretends to be, where V8 refuses it: only the host could tell.
 */

import { isArrayBuffer, isSharedArrayBuffer, typedArrayName } from "./buffers.ts";

type Copies = Map<object, object>;
type ArrayClass = new (buffer: ArrayBuffer, byteOffset: number, length: number) => object;

const { apply } = Reflect;
const { toString: tagged } = Object.prototype;
const { toString: source } = Function.prototype;
const { isError } = Error as unknown as { isError(value: unknown): value is Error };
const sizeOf = {
  Map: Object.getOwnPropertyDescriptor(Map.prototype, "size")!.get!,
  Set: Object.getOwnPropertyDescriptor(Set.prototype, "size")!.get!,
};
const ERRORS: Readonly<Record<string, ErrorConstructor>> = {
  EvalError,
  RangeError,
  ReferenceError,
  SyntaxError,
  TypeError,
  URIError,
};
// Of the language's own classes, beside those of which `special` makes copies.
const REFUSED =
  /^(?:(?:Async)?(?:Generator|DisposableStack)|.* Iterator|Intl\..*|Promise|Weak(?:Map|Ref|Set)|FinalizationRegistry|Symbol)$/;

export function structuredClone(value: unknown, options?: unknown): unknown {
  if (options !== undefined) throw new Error("structuredClone with transfer not supported");
  return copied(value, new Map());
}

Object.defineProperty(structuredClone, "length", { value: 1, configurable: true });

function copied(value: unknown, copies: Copies): unknown {
  if (typeof value === "function") throw refused(apply(source, value, []));
  if (typeof value === "symbol") throw refused(String(value));
  if (typeof value !== "object" || value === null) return value;
  return copies.get(value) ?? special(value, copies) ?? plain(value, copies);
}

/** The copy of an object that is more than its properties; undefined for others. */
function special(value: object, copies: Copies): object | undefined {
  const remembered = <T extends object>(copy: T): T => {
    copies.set(value, copy);
    return copy;
  };
  if (Array.isArray(value)) return withProperties(value, remembered(new Array(value.length)), copies);
  if (isError(value)) return withCause(value, remembered(errorLike(value)), copies);
  if (ArrayBuffer.isView(value)) return remembered(view(value, copies));
  if (isArrayBuffer(value)) return remembered(value.slice(0));
  if (isSharedArrayBuffer(value)) throw refused("#<SharedArrayBuffer>");
  if (accepts(sizeOf.Map, value)) return mapOf(value as Map<unknown, unknown>, remembered(new Map()), copies);
  if (accepts(sizeOf.Set, value)) return setOf(value as Set<unknown>, remembered(new Set()), copies);
  const scalar = scalarOf(value);
  return scalar && remembered(scalar);
}

function plain(value: object, copies: Copies): object {
  const tag = tagOf(value);
  if (REFUSED.test(tag)) throw refused(nameOf(value, tag));
  const copy = {};
  copies.set(value, copy);
  return withProperties(value, copy, copies);
}

function withProperties(value: object, copy: object, copies: Copies): object {
  for (const key of Object.keys(value)) {
    // A getter may have removed it.
    if (!Object.hasOwn(value, key)) continue;
    Object.defineProperty(copy, key, {
      value: copied((value as Record<string, unknown>)[key], copies),
      writable: true,
      enumerable: true,
      configurable: true,
    });
  }
  return copy;
}

function errorLike(error: Error): Error {
  const own = (name: string): unknown => Object.getOwnPropertyDescriptor(error, name)?.value as unknown;
  const { [String(error.name)]: ErrorClass = Error } = ERRORS;
  const copy = Object.hasOwn(error, "message") ? new ErrorClass(String(own("message"))) : new ErrorClass();
  const stack: unknown = error.stack;
  if (typeof stack === "string") {
    Object.defineProperty(copy, "stack", { value: stack, writable: true, enumerable: false, configurable: true });
  }
  return copy;
}

function withCause(error: Error, copy: Error, copies: Copies): Error {
  if (!Object.hasOwn(error, "cause")) return copy;
  const value = copied(error.cause, copies);
  return Object.defineProperty(copy, "cause", { value, writable: true, enumerable: false, configurable: true });
}

/** Views of one buffer stay views of one. */
function view(value: ArrayBufferView, copies: Copies): object {
  const buffer = copied(value.buffer, copies) as ArrayBuffer;
  const name = typedArrayName(value);
  if (name === undefined) return new DataView(buffer, value.byteOffset, value.byteLength);
  const ArrayOf = (globalThis as unknown as Record<string, ArrayClass>)[name]!;
  return new ArrayOf(buffer, value.byteOffset, (value as Uint8Array).length);
}

function mapOf(map: Map<unknown, unknown>, copy: Map<unknown, unknown>, copies: Copies): object {
  for (const [key, value] of [...map]) copy.set(copied(key, copies), copied(value, copies));
  return copy;
}

function setOf(set: Set<unknown>, copy: Set<unknown>, copies: Copies): object {
  for (const value of [...set]) copy.add(copied(value, copies));
  return copy;
}

/** The copy of a date, a pattern, or an object around a primitive. */
function scalarOf(value: object): object | undefined {
  if (accepts(Date.prototype.getTime, value)) {
    const copy = new Date(0);
    copy.setTime(apply(Date.prototype.getTime, value, []));
    return copy;
  }
  if (value !== RegExp.prototype && accepts(regExpSource, value)) {
    return new RegExp((value as RegExp).source, (value as RegExp).flags);
  }
  for (const { valueOf } of BOXES) if (accepts(valueOf, value)) return Object(apply(valueOf, value, [])) as object;
  return undefined;
}

const regExpSource = Object.getOwnPropertyDescriptor(RegExp.prototype, "source")!.get!;
const BOXES = [Boolean.prototype, Number.prototype, String.prototype, BigInt.prototype];

/** Whether a method that reads an object's own slots accepts it. */
function accepts(method: (this: never) => unknown, value: object): boolean {
  try {
    apply(method, value, []);
    return true;
  } catch {
    return false;
  }
}

function tagOf(value: object): string {
  return apply(tagged, value, []).slice("[object ".length, -1);
}

function nameOf(value: object, tag: string): string {
  const { constructor } = value;
  const name = typeof constructor === "function" ? constructor.name : "";
  return name === "" || name === "Object" ? `[object ${tag}]` : `#<${name}>`;
}

function refused(what: string): TypeError {
  return new TypeError(`${what} could not be cloned.`);
}
