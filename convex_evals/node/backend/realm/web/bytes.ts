/** Bytes of a context, for the host: whatever a context hands over, and whatever its code made of its own classes. */

type Getter<T> = (this: unknown) => T;

const typedArray = Object.getPrototypeOf(Uint8Array.prototype) as object;

function getter<T>(prototype: object, name: string): Getter<T> {
  return Object.getOwnPropertyDescriptor(prototype, name)!.get as Getter<T>;
}

// These read an array's own slots, and know one of another context.
const buffer = getter<ArrayBuffer>(typedArray, "buffer");
const byteOffset = getter<number>(typedArray, "byteOffset");
const byteLength = getter<number>(typedArray, "byteLength");

/** The memory of a typed array of any context, as an array of the host. Throws `TypeError` for anything else. */
export function bytesOf(array: unknown): Uint8Array<ArrayBuffer> {
  return new Uint8Array(
    Reflect.apply(buffer, array, []),
    Reflect.apply(byteOffset, array, []),
    Reflect.apply(byteLength, array, []),
  );
}

/** Makes an array of the context for so many bytes. */
export type Allocate = (length: number) => unknown;

/** Copies bytes into an array of the context, which `allocate` makes. */
export function copyInto(allocate: Allocate, bytes: Uint8Array): void {
  bytesOf(allocate(bytes.byteLength)).set(bytes);
}
