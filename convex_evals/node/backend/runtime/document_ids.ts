/** Ids of documents: new ones, and those that functions hand to the database. */

import { host } from "embedded:host";
import { decodeId, encodeId } from "./id_encoding.ts";
import { wrongType } from "./serde_text.ts";

export type IdMethod = "db.get" | "db.patch" | "db.replace" | "db.delete";

interface IdArguments {
  readonly id: unknown;
  /** The table that the function named, where it did. */
  readonly table?: string;
  readonly isSystem?: boolean;
}

// Ids are looked at again and again: once per document and query.
const MAX_REMEMBERED = 100_000;
const remembered = new Map<string, string>();

/** An id for a new document of `table`. */
export function newDocumentId(table: string): string {
  const words = Array.from({ length: 4 }, () => host.randomSeed());
  const bytes = words.flatMap((word) => [word & 0xff, (word >>> 8) & 0xff, (word >>> 16) & 0xff, word >>> 24]);
  return remember(encodeId(host.tableNumber(table), bytes), table);
}

/** The table that `id` belongs to; null for what is no id, and for tables that do not exist. */
export function tableOfId(id: string): string | null {
  const known = remembered.get(id);
  if (known !== undefined) return known;
  const decoded = decodeId(id);
  const table = "problem" in decoded ? null : host.tableName(decoded.tableNumber);
  return table === null ? null : (remember(id, table), table);
}

function remember(id: string, table: string): string {
  if (remembered.size >= MAX_REMEMBERED) remembered.clear();
  remembered.set(id, table);
  return id;
}

/**
 * Refuses an id that is malformed, of another table than the function says, or of
 * a table that it may not touch: get-convex/convex-backend
 * crates/isolate/src/environment/helpers/mod.rs, environment/udf/async_syscall.rs
 */
export function checkDocumentId(method: IdMethod, { id, table, isSystem }: IdArguments): void {
  const complain = (reason: string): never => {
    throw new Error(`Invalid argument \`id\` for \`${method}\`: ${reason}`);
  };
  if (typeof id !== "string") {
    throw new Error(`Invalid arguments for \`${method}\`: ${wrongType(id, "a string")}`);
  }
  const decoded = decodeId(id);
  if ("problem" in decoded) return complain(decoded.problem);
  const actual = host.tableName(decoded.tableNumber);
  if (actual === null) {
    // There is nothing to be found in a table that does not exist.
    if (method !== "db.get") complain(`Table for ID "${id}" not found`);
    return;
  }
  const isSystemTable = actual.startsWith("_");
  // The caller's word; convex/server only says so to read.
  const asksSystem = isSystem === true && method === "db.get";
  if (asksSystem && !isSystemTable) throw new Error("User tables cannot be accessed with db.system.");
  if (!asksSystem && isSystemTable) throw new Error("System tables can only be accessed with db.system.");
  if (table !== undefined && table !== actual) {
    complain(`expected to be an Id<"${table}">, got Id<"${actual}"> instead.`);
  }
}
