/** Bodies that HTTP actions stream after they have returned. */

import { AsyncLocalStorage } from "node:async_hooks";

/** The same response, whose body is produced where this was called: it may go on calling queries and mutations. */
export function bodyInContext(response: Response): Response {
  if (response.body === null) return response;
  const inContext = AsyncLocalStorage.snapshot();
  const reader = response.body.getReader();
  const body = new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        const { done, value } = await inContext(() => reader.read());
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: async (reason) => await inContext(() => reader.cancel(reason)),
    },
    { highWaterMark: 0 },
  );
  const { status, statusText, headers } = response;
  return new Response(body, { status, statusText, headers });
}
