/** A body that comes from the host, chunk by chunk. */

import type { HostBody } from "../types.ts";

export class PulledBody {
  readonly #host: HostBody;
  readonly #failure: (message: string) => Error;

  /** `failure` makes the error for what goes wrong at the host. */
  constructor(host: HostBody, failure = (message: string): Error => new TypeError(message)) {
    this.#host = host;
    this.#failure = failure;
  }

  /** The next chunk; null at the end. */
  readonly pull = (): Promise<Uint8Array<ArrayBuffer> | null> =>
    new Promise((resolve, reject) => {
      const host = this.#host;
      let chunk: Uint8Array<ArrayBuffer> | null = null;
      try {
        host.pull(
          (length) => (chunk = new Uint8Array(length)),
          () => resolve(chunk),
          (message) => reject(this.#failure(message)),
        );
      } catch {
        reject(new RangeError("Maximum call stack size exceeded"));
      }
    });

  cancel(): void {
    const host = this.#host;
    try {
      host.cancel();
    } catch {
      // The stack is used up; the host forgets the body with the call.
    }
  }
}
