/** Bodies of messages across the border: chunks are copied, and each side asks the other for the next. */

import { AsyncLocalStorage } from "node:async_hooks";
import type { ContextBody, HostBody, SentBody } from "../../isolate/types.ts";
import { bytesOf, copyInto } from "./bytes.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** The head of a message from a context, whose code may have replaced what makes JSON. */
export function parsedHead<Head>(text: unknown): Head {
  if (typeof text !== "string") throw new TypeError("The head of a message is no text");
  return JSON.parse(text) as Head;
}

/** A stream of the host, for a context. */
export function hostBody(stream: ReadableStream<Bytes> | null): HostBody {
  const reader = stream?.getReader();
  return {
    pull: (allocate, pulled, failed) => {
      const next = async (): Promise<void> => {
        let chunk: ReadableStreamReadResult<Bytes> | undefined;
        try {
          chunk = await reader?.read();
        } catch (error) {
          return failed(String((error as Error).message));
        }
        if (chunk?.value) copyInto(allocate, chunk.value);
        pulled();
      };
      // What the context's functions throw is nothing to us.
      next().catch(() => {});
    },
    cancel: () => void reader?.cancel().catch(() => {}),
  };
}

/**
 * A body of a context, for the host. One that is streamed is produced in the call that it belongs to, and `ended` is called
 * when no more of it is wanted.
 */
export function contextBody(body: SentBody, ended: () => void = () => {}): Bytes | ReadableStream<Bytes> | null {
  if (body === null) return null;
  return ArrayBuffer.isView(body) ? bytesOf(body).slice() : contextStream(body, ended);
}

function contextStream(body: ContextBody, ended: () => void): ReadableStream<Bytes> {
  const inCall = AsyncLocalStorage.snapshot();
  return new ReadableStream<Bytes>(
    {
      pull: (controller) =>
        new Promise((resolve, reject) => {
          const pulled = (chunk: Uint8Array | null): void => {
            try {
              if (chunk === null) {
                controller.close();
                ended();
              } else controller.enqueue(bytesOf(chunk).slice());
              resolve();
            } catch {
              reject(new TypeError("Received non-Uint8Array chunk"));
              ended();
            }
          };
          const failed = (message?: unknown): void => {
            reject(new Error(typeof message === "string" ? message : ""));
            ended();
          };
          try {
            inCall(() => body.pull(pulled, failed));
          } catch {
            failed();
          }
        }),
      cancel: () => {
        try {
          inCall(() => body.cancel());
        } catch {
          // The context has used up its stack, or done something to its own classes.
        }
        ended();
      },
    },
    { highWaterMark: 0 },
  );
}
