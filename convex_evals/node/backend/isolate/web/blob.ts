/**
 * `Blob` and `File`, whose bytes are in the context.
 * get-convex/convex-backend npm-packages/udf-runtime/src/09_file.ts
 */

import { bytesBehind } from "./buffers.ts";
import { streams } from "./lazy_streams.ts";
import { TextDecoder, utf8 } from "./text.ts";

const PRINTABLE = /^[\x20-\x7e]*$/;

const UNSUPPORTED_PART =
  "Not implemented: constructor with unsupported Blob part for Blob: Only ArrayBuffer, Blob and string supported. " +
  "Consider calling an action defined in Node.js instead (https://docs.convex.dev/functions/actions).";

let contentIn: (blob: unknown) => Uint8Array<ArrayBuffer> | undefined;
let typeIn: (blob: Blob) => string;

export class Blob {
  readonly #bytes: Uint8Array<ArrayBuffer>;
  readonly #type: string;

  static {
    contentIn = (blob) => (typeof blob === "object" && blob !== null && #bytes in blob ? blob.#bytes : undefined);
    typeIn = (blob) => blob.#type;
  }

  constructor(parts?: Iterable<unknown>, options?: BlobPropertyBag) {
    this.#bytes = joined(parts ?? []);
    this.#type = normalizedType(options?.type);
  }

  get size(): number {
    return this.#bytes.byteLength;
  }

  get type(): string {
    return this.#type;
  }

  slice(start?: number, end?: number, type?: string): Blob {
    return new Blob([this.#bytes.slice(start, end)], { type });
  }

  async text(): Promise<string> {
    return new TextDecoder().decode(this.#bytes);
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    return this.#bytes.slice().buffer;
  }

  stream(): ReadableStream<Uint8Array<ArrayBuffer>> {
    const bytes = this.#bytes;
    const { ReadableStream } = streams();
    return new ReadableStream({
      type: "bytes",
      pull: (controller) => {
        if (bytes.byteLength > 0) controller.enqueue(bytes.slice());
        controller.close();
        controller.byobRequest?.respond(0);
      },
    }) as ReadableStream<Uint8Array<ArrayBuffer>>;
  }

  get [Symbol.toStringTag](): string {
    return "Blob";
  }
}

export class File extends Blob {
  readonly #name: string;
  readonly #lastModified: number;

  constructor(parts: Iterable<unknown>, name: string, options?: FilePropertyBag) {
    super(parts, options);
    this.#name = String(name);
    // The context's clock, which stands still in queries and mutations.
    this.#lastModified = options?.lastModified ?? Date.now();
  }

  get name(): string {
    return this.#name;
  }

  get lastModified(): number {
    return this.#lastModified;
  }

  override get [Symbol.toStringTag](): string {
    return "File";
  }
}

/** The bytes of a blob or file, not a copy, whatever the app has put over its properties; undefined for what is none. */
export function bytesOfBlob(blob: unknown): Uint8Array<ArrayBuffer> | undefined {
  return contentIn(blob);
}

/** The type that a blob was made with. */
export function typeOfBlob(blob: unknown): string {
  return typeIn(blob as Blob);
}

function joined(parts: Iterable<unknown>): Uint8Array<ArrayBuffer> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for (const part of parts) {
    const bytes = typeof part === "string" ? utf8(part) : (contentIn(part) ?? bytesBehind(part));
    if (!bytes) throw new Error(UNSUPPORTED_PART);
    chunks[chunks.length] = bytes;
    length += bytes.byteLength;
  }
  const all = new Uint8Array(length);
  let at = 0;
  for (const bytes of chunks) {
    all.set(bytes, at);
    at += bytes.byteLength;
  }
  return all;
}

function normalizedType(type: unknown): string {
  const text = type === undefined || type === null ? "" : String(type);
  return PRINTABLE.test(text) ? text.toLowerCase() : "";
}
