/** Documents in the journal, in the JSON of `convexToJson`. */

import { convexToJson, jsonToConvex, type Value } from "convex/values";
import type { StoredDocument, Write } from "../data_store.ts";
import type { WrittenDocument } from "./journal.ts";

export function written({ componentPath, table, id, document }: Write): WrittenDocument {
  return [componentPath, table, id, document === null ? null : convexToJson(document as Value)];
}

/** The writes that a journal holds in a record, which is the JSON `text`. */
export function readWrites(writes: readonly WrittenDocument[], text: string): Write[] {
  // Only integers of 64 bits, bytes and unusual floats are written as something else than themselves.
  const asIs = !text.includes('"$');
  return writes.map(([componentPath, table, id, json]) => {
    const document = json === null ? null : ((asIs ? json : jsonToConvex(json)) as StoredDocument);
    return { componentPath, table, id, document };
  });
}
