/** The host's side of `isolate/web/text.ts` and `isolate/web/base64.ts`. */

import type { DecodeBytes, TextHost } from "../../isolate/types.ts";
import { bytesOf, copyInto } from "./bytes.ts";

const encoder = new TextEncoder();

/** Null where the host refuses what it was given; that the stack is used up says nothing about it, and is thrown on. */
function orNull<T>(make: () => T): T | null {
  try {
    return make();
  } catch (error) {
    if ((error as { code?: unknown }).code === undefined) throw error;
    return null;
  }
}

function openDecoder(encoding: string, isFatal: boolean, ignoresBom: boolean): DecodeBytes {
  const decoder = new TextDecoder(encoding, { fatal: isFatal, ignoreBOM: ignoresBom });
  return (bytes, isStream) => {
    const given = bytesOf(bytes);
    return orNull(() => decoder.decode(given, { stream: isStream }));
  };
}

export const TEXT_HOST: TextHost = {
  encode: (text, allocate) => {
    const bytes = encoder.encode(text);
    copyInto(allocate, bytes);
    return bytes.byteLength;
  },
  encodeInto: (text, bytes, setWritten) => {
    const { read, written } = encoder.encodeInto(text, bytesOf(bytes));
    setWritten(written);
    return read;
  },
  encodingOf: (label) => orNull(() => new TextDecoder(label).encoding),
  openDecoder,
  atob: (text) => orNull(() => atob(text)),
  btoa: (text) => orNull(() => btoa(text)),
};
