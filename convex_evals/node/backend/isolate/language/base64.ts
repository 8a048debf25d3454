/** Base64 as the language reads and writes it. https://tc39.es/ecma262/#sec-frombase64 */

import { uncurried } from "./uncurried.ts";

export type Alphabet = "base64" | "base64url";
export type LastChunk = "loose" | "strict" | "stop-before-partial";

/** What was read of a text until its end, or until `error`. */
export interface Decoded {
  /** Code units of the text. */
  readonly read: number;
  readonly written: number;
  readonly error: string | null;
}

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const URL_DIGITS = `${DIGITS.slice(0, 62)}-_`;
const NONE = 255;
const EQUALS = 61;
const NO_DIGIT = "Found a character that cannot be part of a valid base64 string.";
const INCOMPLETE = "The base64 input terminates with a single character, excluding padding (=).";
const EXTRA_BITS = "The base64 input terminates with non-zero padding bits.";

const codeAt = uncurried(String.prototype.charCodeAt);
const fromCodes = String.fromCharCode;
const { apply } = Reflect;
const { ceil, min } = Math;
const codesOf = (digits: string): Uint8Array => Uint8Array.from(digits, (digit) => digit.charCodeAt(0));

const CODES = { base64: codesOf(DIGITS), base64url: codesOf(URL_DIGITS) };
const VALUES = { base64: valuesOf(CODES.base64), base64url: valuesOf(CODES.base64url) };
const Bytes = Uint8Array;

function valuesOf(codes: Uint8Array): Uint8Array {
  const values = new Uint8Array(128).fill(NONE);
  codes.forEach((code, value) => (values[code] = value));
  return values;
}

const isSpace = (code: number): boolean => code === 32 || code === 10 || code === 9 || code === 13 || code === 12;

function afterSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && isSpace(codeAt(text, at))) at += 1;
  return at;
}

/** Decodes into `bytes` whatever fits there whole. */
export function decodeBase64(text: string, bytes: Uint8Array, alphabet: Alphabet, lastChunk: LastChunk): Decoded {
  const decoding = new Decoding(text, bytes, lastChunk);
  const error = bytes.length === 0 ? null : decoding.run(VALUES[alphabet]);
  return { read: decoding.read, written: decoding.written, error };
}

class Decoding {
  read = 0;
  written = 0;
  readonly #text: string;
  readonly #bytes: Uint8Array;
  readonly #lastChunk: LastChunk;
  #chunk = 0;
  #digits = 0;

  constructor(text: string, bytes: Uint8Array, lastChunk: LastChunk) {
    this.#text = text;
    this.#bytes = bytes;
    this.#lastChunk = lastChunk;
  }

  /** Returns what is wrong with the text. */
  run(values: Uint8Array): string | null {
    const text = this.#text;
    const room = this.#bytes.length;
    for (let at = afterSpace(text, 0); at < text.length; at = afterSpace(text, at)) {
      const code = codeAt(text, at);
      at += 1;
      if (code === EQUALS) return this.#padding(at);
      const value = code < 128 ? values[code]! : NONE;
      if (value === NONE) return NO_DIGIT;
      const left = room - this.written;
      if (left < 3 && this.#digits === left + 1) return null;
      this.#chunk = (this.#chunk << 6) | value;
      this.#digits += 1;
      if (this.#digits < 4) continue;
      this.#write(this.#chunk, 3);
      this.read = at;
      if (this.written === room) return null;
    }
    return this.#end();
  }

  #end(): string | null {
    if (this.#digits > 0) {
      if (this.#lastChunk === "stop-before-partial") return null;
      if (this.#lastChunk === "strict" || this.#digits === 1) return INCOMPLETE;
    }
    return this.#last();
  }

  /** From behind the first "=" on. */
  #padding(from: number): string | null {
    if (this.#digits < 2) return this.#digits === 1 ? INCOMPLETE : NO_DIGIT;
    let at = afterSpace(this.#text, from);
    if (this.#digits === 2) {
      if (at === this.#text.length) return this.#lastChunk === "stop-before-partial" ? null : INCOMPLETE;
      if (codeAt(this.#text, at) === EQUALS) at = afterSpace(this.#text, at + 1);
    }
    if (at < this.#text.length) return NO_DIGIT;
    const extraBits = this.#chunk & (this.#digits === 2 ? 0b1111 : 0b11);
    if (this.#lastChunk === "strict" && extraBits !== 0) return EXTRA_BITS;
    return this.#last();
  }

  #last(): null {
    if (this.#digits > 0) this.#write(this.#chunk << (24 - 6 * this.#digits), this.#digits - 1);
    this.read = this.#text.length;
    return null;
  }

  #write(chunk: number, count: number): void {
    for (let at = 0; at < count; at++) this.#bytes[this.written + at] = chunk >> (16 - 8 * at);
    this.written += count;
    this.#chunk = 0;
    this.#digits = 0;
  }
}

/** As many code units as a function may well be called with. */
const SLICE = 8192;

export function encodeBase64(bytes: Uint8Array, alphabet: Alphabet, padded: boolean): string {
  const codes = CODES[alphabet];
  const { length } = bytes;
  const out = new Bytes(ceil(length / 3) * 4);
  let to = 0;
  for (let at = 0; at < length; at += 3) {
    // Beyond the end there are zeros.
    const chunk = (bytes[at]! << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0);
    out[to] = codes[chunk >> 18]!;
    out[to + 1] = codes[(chunk >> 12) & 63]!;
    out[to + 2] = codes[(chunk >> 6) & 63]!;
    out[to + 3] = codes[chunk & 63]!;
    to += 4;
  }
  const missing = length % 3 === 0 ? 0 : 3 - (length % 3);
  for (let at = 1; at <= missing; at++) out[to - at] = EQUALS;
  return textOf(out, padded ? to : to - missing);
}

/** Text of ASCII codes. */
export function textOf(codes: Uint8Array<ArrayBuffer>, length: number): string {
  let text = "";
  for (let at = 0; at < length; at += SLICE) {
    const slice = new Bytes(codes.buffer, at, min(SLICE, length - at));
    text += apply(fromCodes, null, slice as unknown as readonly number[]);
  }
  return text;
}
