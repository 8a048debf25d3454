/** Mutations that were answered: a client that reconnects sends them again. */

import type { MutationResponse } from "./protocol.ts";

const MAX_REMEMBERED = 10_000;

export class MutationHistory {
  readonly #responses = new Map<string, Promise<MutationResponse>>();

  /** Runs a request of a session the first time, and repeats its answer after that. */
  async once(
    sessionId: string | null,
    requestId: number,
    run: () => Promise<MutationResponse>,
  ): Promise<MutationResponse> {
    if (sessionId === null) return await run();
    const key = `${sessionId}|${requestId}`;
    let response = this.#responses.get(key);
    if (!response) {
      response = run();
      this.#responses.set(key, response);
      this.#forgetOldest();
    }
    return await response;
  }

  #forgetOldest(): void {
    for (const key of this.#responses.keys()) {
      if (this.#responses.size <= MAX_REMEMBERED) return;
      this.#responses.delete(key);
    }
  }
}
