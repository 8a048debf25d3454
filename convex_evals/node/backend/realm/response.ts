/** What HTTP actions return: an object of the app's, which may answer as it likes. */

import { AsyncLocalStorage } from "node:async_hooks";

// As they are before any code of an app runs.
const { getReader } = ReadableStream.prototype;
const { read, cancel } = ReadableStreamDefaultReader.prototype;

/**
 * The response, without what the app may have put over its own properties. A body that is streamed is produced in the
 * call that it belongs to: it may go on calling queries and mutations. Throws `TypeError` for what is no response.
 */
export function copiedResponse(given: unknown): Response {
  const own = <T>(name: keyof Response): T => Reflect.get(Response.prototype, name, given) as T;
  const body = own<ReadableStream<Uint8Array> | null>("body");
  return new Response(body && copiedStream(body), {
    status: own<number>("status"),
    statusText: own<string>("statusText"),
    headers: [...new Headers(own<Headers>("headers"))],
  });
}

function copiedStream(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const inContext = AsyncLocalStorage.snapshot();
  const reader = Reflect.apply(getReader, body, []) as ReadableStreamDefaultReader<Uint8Array>;
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        const { done, value } = await inContext(
          () => Reflect.apply(read, reader, []) as ReturnType<typeof reader.read>,
        );
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: async (reason) => await inContext(() => Reflect.apply(cancel, reader, [reason])),
    },
    { highWaterMark: 0 },
  );
}
