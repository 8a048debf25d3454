/** `BufferSource`s, as functions of the web take them. https://webidl.spec.whatwg.org/#BufferSource */

const byteLength = Object.getOwnPropertyDescriptor(ArrayBuffer.prototype, "byteLength")!.get!;

/** The bytes of a buffer, or of an array or view, in their place; null for anything else. */
export function bytesIn(source: unknown): Uint8Array<ArrayBuffer> | null {
  if (ArrayBuffer.isView(source)) {
    return new Uint8Array(source.buffer as ArrayBuffer, source.byteOffset, source.byteLength);
  }
  return isArrayBuffer(source) ? new Uint8Array(source) : null;
}

// A buffer may be another context's; the getter reads its own slot.
function isArrayBuffer(value: unknown): value is ArrayBuffer {
  try {
    Reflect.apply(byteLength, value, []);
    return true;
  } catch {
    return false;
  }
}
