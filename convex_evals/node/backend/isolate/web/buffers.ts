/** The memory behind the buffers and views that the web's functions take. */

type Getter = (this: unknown) => unknown;

function getter(prototype: object, name: string | symbol): Getter {
  return Object.getOwnPropertyDescriptor(prototype, name)!.get!;
}

const { apply } = Reflect;
const bufferLength = getter(ArrayBuffer.prototype, "byteLength");
const sharedLength = getter(SharedArrayBuffer.prototype, "byteLength");
const arrayName = getter(Object.getPrototypeOf(Uint8Array.prototype) as object, Symbol.toStringTag);

/** Whether `getter`, which reads an object's own slots, accepts it. */
function has(slots: Getter, value: unknown): boolean {
  try {
    apply(slots, value, []);
    return true;
  } catch {
    return false;
  }
}

export function isArrayBuffer(value: unknown): value is ArrayBuffer {
  return has(bufferLength, value);
}

export function isSharedArrayBuffer(value: unknown): value is SharedArrayBuffer {
  return has(sharedLength, value);
}

/** The name of a typed array's class; undefined for what is none, a DataView among them. */
export function typedArrayName(value: unknown): string | undefined {
  return apply(arrayName, value, []) as string | undefined;
}

/** The memory itself, not a copy; undefined for what is neither a buffer nor a view of one. */
export function bytesBehind(source: unknown): Uint8Array | undefined {
  return isSharedArrayBuffer(source) ? new Uint8Array(source) : bytesIn(source);
}

/** The same of a `BufferSource`, which no shared buffer is. https://webidl.spec.whatwg.org/#BufferSource */
export function bytesIn(source: unknown): Uint8Array<ArrayBuffer> | undefined {
  if (ArrayBuffer.isView(source)) {
    return new Uint8Array(source.buffer as ArrayBuffer, source.byteOffset, source.byteLength);
  }
  return isArrayBuffer(source) ? new Uint8Array(source) : undefined;
}
