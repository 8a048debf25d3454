/**
 * `TextEncoderStream` and `TextDecoderStream`.
 * get-convex/convex-backend npm-packages/udf-runtime/src/08_text_encoding.ts
 */

import { TransformStream } from "./streams.ts";
import { TextDecoder, utf8 } from "./text.ts";

const REPLACEMENT = "\ufffd";

export class TextEncoderStream {
  readonly #transform: TransformStream<unknown, Uint8Array>;

  constructor() {
    // The first half of a character whose second half is in the next chunk.
    let half = "";
    this.#transform = new TransformStream<unknown, Uint8Array>({
      transform: (chunk, controller) => {
        const text = half + String(chunk);
        half = /[\ud800-\udbff]$/.exec(text)?.[0] ?? "";
        const whole = text.slice(0, text.length - half.length);
        if (whole !== "") controller.enqueue(utf8(whole));
      },
      flush: (controller) => {
        if (half !== "") controller.enqueue(utf8(REPLACEMENT));
      },
    });
  }

  get encoding(): string {
    return "utf-8";
  }

  get readable(): ReadableStream<Uint8Array> {
    return this.#transform.readable as ReadableStream<Uint8Array>;
  }

  get writable(): WritableStream<unknown> {
    return this.#transform.writable;
  }

  get [Symbol.toStringTag](): string {
    return "TextEncoderStream";
  }
}

export class TextDecoderStream {
  readonly #decoder: TextDecoder;
  readonly #transform: TransformStream<unknown, string>;

  constructor(label: unknown = "utf-8", options: TextDecoderOptions = {}) {
    const decoder = new TextDecoder(label, options);
    const decode = (chunk: unknown, controller: { enqueue(text: string): void }, stream: boolean): void => {
      const text = decoder.decode(chunk, { stream });
      if (text !== "") controller.enqueue(text);
    };
    this.#decoder = decoder;
    this.#transform = new TransformStream<unknown, string>({
      transform: (chunk, controller) => decode(chunk, controller, true),
      flush: (controller) => decode(undefined, controller, false),
    });
  }

  get encoding(): string {
    return this.#decoder.encoding;
  }

  get fatal(): boolean {
    return this.#decoder.fatal;
  }

  get ignoreBOM(): boolean {
    return this.#decoder.ignoreBOM;
  }

  get readable(): ReadableStream<string> {
    return this.#transform.readable as ReadableStream<string>;
  }

  get writable(): WritableStream<unknown> {
    return this.#transform.writable;
  }

  get [Symbol.toStringTag](): string {
    return "TextDecoderStream";
  }
}
