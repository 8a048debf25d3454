/**
 * What `Request` and `Response` have in common: a body, which is read once.
 *
 * get-convex/convex-backend npm-packages/udf-runtime/src/22_body.ts
 */

import { Blob, bytesOfBlob, typeOfBlob } from "./blob.ts";
import { bytesBehind } from "./buffers.ts";
import { entriesOfForm, type FormData } from "./form_data.ts";
import type { Headers } from "./headers.ts";
import { streams } from "./lazy_streams.ts";
import { formOf, multipartOf } from "./multipart.ts";
import { PulledBody } from "./pulled_body.ts";
import type * as Streams from "./streams.ts";
import { TextDecoder, utf8 } from "./text.ts";
import { URLSearchParams } from "./url.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** A stream is made of the others when the app asks for it. */
export type Source = Bytes | PulledBody | Streams.ReadableStream;

/** What a body is made of. */
export type BodyInit = string | Blob | BufferSource | FormData | URLSearchParams | Streams.ReadableStream;

interface Extracted {
  readonly source: Source;
  readonly contentType: string | null;
}

/** https://fetch.spec.whatwg.org/#concept-bodyinit-extract */
export function extractBody(init: unknown): Extracted {
  if (init instanceof URLSearchParams) {
    return { source: utf8(init.toString()), contentType: "application/x-www-form-urlencoded;charset=UTF-8" };
  }
  const blob = bytesOfBlob(init);
  if (blob) return { source: blob, contentType: typeOfBlob(init) || null };
  const entries = entriesOfForm(init);
  if (entries) {
    const { bytes, type } = multipartOf(entries);
    return { source: bytes as Bytes, contentType: type };
  }
  const bytes = bytesBehind(init);
  if (bytes) return { source: bytes.slice(), contentType: null };
  if (typeof init === "object" && isStream(init)) return { source: init, contentType: null };
  return { source: utf8(`${init as string}`), contentType: "text/plain;charset=UTF-8" };
}

/** The headers, whatever the app has put over the property. */
export let headersOf: (body: Body) => Headers;

/** Takes the body for somebody who sends it; null where there is none. Throws where it was read. */
export let takeBody: (body: Body, method: string) => Source | null;

/** Gives a copy a body of its own, and what it was copied from another. */
export let copyBody: (from: Body, to: Body) => void;

/** Makes the body one of the host's. */
export let receiveBody: (body: Body, source: PulledBody | null) => void;

export abstract class Body {
  #source: Source | null;
  #isUsed = false;
  readonly #className: string;
  readonly #headers: Headers;

  static {
    headersOf = (body) => body.#headers;
    takeBody = (body, method) => body.#take(method);
    copyBody = (from, to) => void (to.#source = from.#tee());
    receiveBody = (body, source) => void (body.#source = source);
  }

  constructor(className: string, headers: Headers, source: Source | null) {
    this.#className = className;
    this.#headers = headers;
    this.#source = source;
  }

  get headers(): Headers {
    return this.#headers;
  }

  get body(): Streams.ReadableStream | null {
    if (this.#source === null) return null;
    this.#source = streamOf(this.#source);
    return this.#source;
  }

  get bodyUsed(): boolean {
    return this.#isUsed;
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    return (await this.#read("arrayBuffer")).buffer;
  }

  async blob(): Promise<Blob> {
    return new Blob([await this.#read("blob")], { type: this.#headers.get("content-type") ?? "" });
  }

  async bytes(): Promise<Uint8Array> {
    return await this.#read("bytes");
  }

  async formData(): Promise<FormData> {
    return formOf(await this.#read("formData"), this.#headers.get("content-type"));
  }

  async json(): Promise<unknown> {
    return JSON.parse(new TextDecoder().decode(await this.#read("json"))) as unknown;
  }

  async text(): Promise<string> {
    return new TextDecoder().decode(await this.#read("text"));
  }

  async #read(method: string): Promise<Bytes> {
    const source = this.#take(method);
    if (source === null) return new Uint8Array(0);
    return isBytes(source) ? source.slice() : await allOf(chunksOf(source));
  }

  #take(method: string): Source | null {
    if (this.#isUsed) {
      throw new TypeError(`Failed to execute '${method}' on '${this.#className}': body stream already read`);
    }
    // One that is not there can be read again.
    if (this.#source !== null) this.#isUsed = true;
    return this.#source;
  }

  #tee(): Source | null {
    if (this.#isUsed) throw new TypeError(`Failed to execute 'clone' on '${this.#className}': body is already used`);
    if (this.#source === null || isBytes(this.#source)) return this.#source;
    const [own, other] = streamOf(this.#source).tee();
    this.#source = own;
    return other;
  }
}

/** The chunks of a body, and a way to end it early. */
export function chunksOf(source: Exclude<Source, Uint8Array>): Pick<PulledBody, "pull" | "cancel"> {
  if (source instanceof PulledBody) return source;
  const reader = streams().readerOf(source);
  return {
    pull: async () => {
      const chunk = await reader.read();
      if (chunk.done) return null;
      const bytes = bytesBehind(chunk.value);
      if (!bytes) throw new TypeError("Received non-Uint8Array chunk");
      return bytes as Bytes;
    },
    cancel: () => void reader.cancel().catch(() => {}),
  };
}

export function isBytes(source: Source): source is Bytes {
  return ArrayBuffer.isView(source);
}

async function allOf({ pull }: Pick<PulledBody, "pull">): Promise<Bytes> {
  const chunks: Bytes[] = [];
  for (let chunk = await pull(); chunk !== null; chunk = await pull()) chunks.push(chunk);
  return bytesOfBlob(new Blob(chunks))!;
}

function streamOf(source: Source): Streams.ReadableStream {
  if (isStream(source)) return source;
  if (isBytes(source)) return new Blob([source]).stream() as unknown as Streams.ReadableStream;
  const { ReadableStream } = streams();
  return new ReadableStream({
    type: "bytes",
    pull: async (controller) => {
      let chunk = await source.pull();
      while (chunk?.byteLength === 0) chunk = await source.pull();
      if (chunk !== null) return controller.enqueue(chunk);
      controller.close();
      controller.byobRequest?.respond(0);
    },
    cancel: () => source.cancel(),
  });
}

function isStream(value: unknown): value is Streams.ReadableStream {
  return value instanceof streams().ReadableStream;
}
