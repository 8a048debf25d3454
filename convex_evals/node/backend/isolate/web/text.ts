/**
 * `TextEncoder` and `TextDecoder`; the host, which knows all encodings, does the work.
 * get-convex/convex-backend npm-packages/udf-runtime/src/08_text_encoding.ts
 */

import { asked } from "../host.ts";
import type { DecodeBytes } from "../types.ts";
import { bytesBehind, typedArrayName } from "./buffers.ts";
import { DOMException } from "./dom_exception.ts";

/** The text as UTF-8, in an array of the context. */
export function utf8(text: string): Uint8Array<ArrayBuffer> {
  let bytes: Uint8Array<ArrayBuffer>;
  asked((host) => host.text.encode(text, (length) => (bytes = new Uint8Array(length))));
  return bytes!;
}

export class TextEncoder {
  get encoding(): string {
    return "utf-8";
  }

  encode(text: unknown = ""): Uint8Array<ArrayBuffer> {
    return utf8(typeof text === "string" ? text : String(text));
  }

  encodeInto(text: unknown, into: Uint8Array): { read: number; written: number } {
    const isBytes = typedArrayName(into) === "Uint8Array";
    if (!isBytes) throw new TypeError("encodeInto: the destination must be a Uint8Array");
    let written = 0;
    const read = asked((host) => host.text.encodeInto(String(text), into, (bytes) => (written = bytes)));
    return { read, written };
  }

  get [Symbol.toStringTag](): string {
    return "TextEncoder";
  }
}

export class TextDecoder {
  readonly #encoding: string;
  readonly #isFatal: boolean;
  readonly #ignoresBom: boolean;
  #decode: DecodeBytes | null = null;

  constructor(label: unknown = "utf-8", { fatal = false, ignoreBOM = false }: TextDecoderOptions = {}) {
    const name = String(label);
    const encoding = asked((host) => host.text.encodingOf(name));
    if (encoding === null) {
      throw new DOMException(`The encoding label provided ('${name}') is invalid.`, "RangeError");
    }
    this.#encoding = encoding;
    this.#isFatal = Boolean(fatal);
    this.#ignoresBom = Boolean(ignoreBOM);
  }

  get encoding(): string {
    return this.#encoding;
  }

  get fatal(): boolean {
    return this.#isFatal;
  }

  get ignoreBOM(): boolean {
    return this.#ignoresBom;
  }

  decode(source?: unknown, options?: { readonly stream?: boolean }): string {
    // As on Convex: it is no way to get what a stream's last chunk left open.
    if (source === undefined) return "";
    const bytes = bytesBehind(source);
    if (!bytes) throw new TypeError("decode: the input must be an ArrayBuffer or a view of one");
    const isStream = Boolean(options?.stream);
    const text = asked((host) => {
      this.#decode ??= host.text.openDecoder(this.#encoding, this.#isFatal, this.#ignoresBom);
      return this.#decode(bytes, isStream);
    });
    if (!isStream || text === null) this.#decode = null;
    if (text === null) throw new TypeError("The encoded data is not valid");
    return text;
  }

  get [Symbol.toStringTag](): string {
    return "TextDecoder";
  }
}
