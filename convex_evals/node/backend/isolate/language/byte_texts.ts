/** Bytes as base64 and hexadecimal text. https://tc39.es/ecma262/#sec-uint8array-objects */

import { decodeBase64, encodeBase64, textOf, type Alphabet, type Decoded, type LastChunk } from "./base64.ts";
import { getterOf, uncurried } from "./uncurried.ts";

interface Base64Options {
  readonly alphabet?: unknown;
  readonly lastChunkHandling?: unknown;
  readonly omitPadding?: unknown;
}

const Bytes = Uint8Array;
const { ceil } = Math;
const TypedArray = Object.getPrototypeOf(Uint8Array.prototype) as Uint8Array;
const classOf = getterOf(TypedArray, Symbol.toStringTag);
const bufferOf = getterOf(TypedArray, "buffer") as (bytes: object) => ArrayBuffer;
const offsetOf = getterOf(TypedArray, "byteOffset") as (bytes: object) => number;
const lengthOf = getterOf(TypedArray, "length") as (bytes: object) => number;
const elementOf = uncurried(TypedArray.at);
const set = uncurried(TypedArray.set);
const codeAt = uncurried(String.prototype.charCodeAt);
const HEX = Uint8Array.from("0123456789abcdef", (digit) => digit.charCodeAt(0));

export const bytesFromText = {
  fromBase64(text: unknown, options: unknown = undefined): Uint8Array {
    checkText(text);
    const { alphabet, lastChunk } = decoding(options);
    const bytes = new Bytes(ceil(text.length / 4) * 3);
    return taken(bytes, decodeBase64(text, bytes, alphabet, lastChunk));
  },
  fromHex(text: unknown): Uint8Array {
    checkText(text);
    const bytes = new Bytes(ceil(text.length / 2));
    return taken(bytes, decodeHex(text, bytes));
  },
};

export const bytesToText = {
  toBase64(this: unknown, options: unknown = undefined): string {
    const bytes = checkedBytes(this, "toBase64");
    const given = optionsOf(options);
    const alphabet = choice(given.alphabet, "base64", "base64url");
    const padded = !given.omitPadding;
    return encodeBase64(window(bytes), alphabet, padded);
  },
  toHex(this: unknown): string {
    return encodeHex(window(checkedBytes(this, "toHex")));
  },
  setFromBase64(this: unknown, text: unknown, options: unknown = undefined): { read: number; written: number } {
    const bytes = checkedBytes(this, "setFromBase64");
    checkText(text);
    const { alphabet, lastChunk } = decoding(options);
    return counted(decodeBase64(text, window(bytes), alphabet, lastChunk));
  },
  setFromHex(this: unknown, text: unknown): { read: number; written: number } {
    const bytes = checkedBytes(this, "setFromHex");
    checkText(text);
    return counted(decodeHex(text, window(bytes)));
  },
};

function checkText(text: unknown): asserts text is string {
  if (typeof text !== "string") throw new TypeError("input argument must be a string");
}

function checkedBytes(value: unknown, method: string): object {
  if (classOf(value) !== "Uint8Array") {
    throw new TypeError(`Method Uint8Array.prototype.${method} called on incompatible receiver`);
  }
  return value as object;
}

/** The same bytes; throws where they are gone. */
function window(bytes: object): Uint8Array<ArrayBuffer> {
  elementOf(bytes, 0);
  return new Bytes(bufferOf(bytes), offsetOf(bytes), lengthOf(bytes));
}

function optionsOf(options: unknown): Base64Options {
  if (options === undefined) return {};
  if (options === null || (typeof options !== "object" && typeof options !== "function")) {
    throw new TypeError("options must be an object");
  }
  return options;
}

function choice<T extends string>(given: unknown, first: T, second: T, third = second): T {
  if (given === undefined) return first;
  if (given === first || given === second || given === third) return given as T;
  throw new TypeError(`invalid option ${typeof given === "string" ? given : typeof given}`);
}

function decoding(options: unknown): { readonly alphabet: Alphabet; readonly lastChunk: LastChunk } {
  const given = optionsOf(options);
  const alphabet = choice<Alphabet>(given.alphabet, "base64", "base64url");
  const lastChunk = choice<LastChunk>(given.lastChunkHandling, "loose", "strict", "stop-before-partial");
  return { alphabet, lastChunk };
}

function checkDecoded({ error }: Decoded): void {
  if (error !== null) throw new SyntaxError(error);
}

function counted(decoded: Decoded): { read: number; written: number } {
  checkDecoded(decoded);
  return { read: decoded.read, written: decoded.written };
}

/** What was written of `bytes`, alone. */
function taken(bytes: Uint8Array<ArrayBuffer>, decoded: Decoded): Uint8Array {
  checkDecoded(decoded);
  if (decoded.written === bytes.length) return bytes;
  const exact = new Bytes(decoded.written);
  set(exact, new Bytes(bytes.buffer, 0, decoded.written));
  return exact;
}

function decodeHex(text: string, bytes: Uint8Array): Decoded {
  const room = bytes.length;
  if (text.length % 2 !== 0) {
    return { read: 0, written: 0, error: "Input string must contain hex characters in even length" };
  }
  let written = 0;
  for (; written * 2 < text.length && written < room; written++) {
    const value = (hexValue(codeAt(text, written * 2)) << 4) | hexValue(codeAt(text, written * 2 + 1));
    if (value < 0) {
      return { read: written * 2, written, error: "Input string must contain hex characters in even length" };
    }
    bytes[written] = value;
  }
  return { read: written * 2, written, error: null };
}

/** Negative for what is no digit. */
function hexValue(code: number): number {
  if (code >= 48 && code <= 57) return code - 48;
  const letter = code | 32;
  return letter >= 97 && letter <= 102 ? letter - 87 : -1;
}

function encodeHex(bytes: Uint8Array): string {
  const out = new Bytes(bytes.length * 2);
  for (let at = 0; at < bytes.length; at++) {
    out[at * 2] = HEX[bytes[at]! >> 4]!;
    out[at * 2 + 1] = HEX[bytes[at]! & 15]!;
  }
  return textOf(out, out.length);
}
