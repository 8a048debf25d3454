/**
 * The web's streams: Convex takes them from the same package. They are all JavaScript, and know nothing of the host.
 * get-convex/convex-backend npm-packages/udf-runtime/src/06_streams.ts
 */

import { ReadableStream, ReadableStreamDefaultReader } from "web-streams-polyfill";

export {
  ReadableStream,
  ReadableStreamBYOBReader,
  ReadableStreamDefaultReader,
  TransformStream,
  WritableStream,
  WritableStreamDefaultWriter,
} from "web-streams-polyfill";

// As they are when the app gets the classes.
const { getReader } = ReadableStream.prototype;
const { read, cancel } = ReadableStreamDefaultReader.prototype;

/** Locks a stream, whatever the app has put over its methods. */
export function readerOf(stream: ReadableStream): Pick<ReadableStreamDefaultReader<unknown>, "read" | "cancel"> {
  const reader = Reflect.apply<ReadableStream, [], ReadableStreamDefaultReader<unknown>>(getReader, stream, []);
  type Read = () => ReturnType<typeof reader.read>;
  return {
    read: () => Reflect.apply<typeof reader, [], ReturnType<Read>>(read, reader, []),
    cancel: (reason) => Reflect.apply<typeof reader, [unknown], Promise<void>>(cancel, reader, [reason]),
  };
}
