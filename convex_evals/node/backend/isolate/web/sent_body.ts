/** A body on its way to the host. */

import type { ContextBody, SentBody } from "../types.ts";
import { chunksOf, isBytes, type Source } from "./body.ts";

type PullChunk = (...args: Parameters<ContextBody["pull"]>) => Promise<void>;

/** What the host reads a body from. It gives functions of its own, which nothing else may see. */
export function sentBody(source: Source | null): SentBody {
  if (source === null || isBytes(source)) return source;
  const chunks = chunksOf(source);
  const pull: PullChunk = async (pulled, failed) => {
    let chunk: Uint8Array | null;
    try {
      chunk = await chunks.pull();
    } catch (error) {
      failed(messageOf(error));
      return;
    }
    pulled(chunk);
  };
  return {
    pull: (pulled, failed) => void pull(pulled, failed),
    cancel: () => chunks.cancel(),
  };
}

function messageOf(error: unknown): string {
  try {
    return `${(error as Error).message}`;
  } catch {
    return "";
  }
}
