/** Limits on stored values: https://docs.convex.dev/production/state/limits#documents */

import { getDocumentSize, type Value } from "convex/values";

const MAX_DOCUMENT_BYTES = 1 << 20;
const MAX_NESTING = 64;
const MAX_ARRAY_LENGTH = 8192;
const MAX_FIELDS = 1024;
const MAX_FIELD_NAME_LENGTH = 1024;

/** Throws when `document` is larger, deeper or wider than Convex stores. */
export function checkDocument(table: string, document: Record<string, Value>): void {
  // System tables hold what the backend itself writes.
  if (table.startsWith("_")) return;
  checkTableName(table);
  checkValue(document, 1);
  const size = getDocumentSize(document);
  if (size > MAX_DOCUMENT_BYTES) {
    throw new Error(`Value is too large (${formatBytes(size)} > maximum size 1 MiB)`);
  }
}

function checkTableName(table: string): void {
  if (!/^[a-zA-Z][a-zA-Z0-9_]{0,63}$/.test(table)) {
    throw new Error(`Invalid table name ${table}: table names must start with an alphabetic character and contain only alphanumeric characters or underscores`);
  }
}

function checkValue(value: unknown, depth: number): void {
  if (typeof value !== "object" || value === null || value instanceof ArrayBuffer) return;
  if (depth > MAX_NESTING) {
    throw new Error(`Value is too nested (nested ${depth} levels deep > maximum nesting ${MAX_NESTING})`);
  }
  if (Array.isArray(value)) {
    if (value.length > MAX_ARRAY_LENGTH) {
      throw new Error(`Array length is too long (${value.length} > maximum length ${MAX_ARRAY_LENGTH})`);
    }
    for (const item of value) checkValue(item, depth + 1);
    return;
  }
  const entries = Object.entries(value);
  if (entries.length > MAX_FIELDS) {
    throw new Error(`Object has too many fields (${entries.length} > maximum number ${MAX_FIELDS})`);
  }
  for (const [name, field] of entries) {
    checkFieldName(name);
    checkValue(field, depth + 1);
  }
}

function checkFieldName(name: string): void {
  if (name.length > MAX_FIELD_NAME_LENGTH) {
    throw new Error(`Field name is too long (${name.length} > maximum ${MAX_FIELD_NAME_LENGTH})`);
  }
  if (name.startsWith("$")) throw new Error(`Field name ${name} starts with '$', which is reserved.`);
  if (!/^[\x20-\x7e]*$/.test(name)) {
    throw new Error(`Field name ${name} has invalid character: Field names can only contain non-control ASCII characters.`);
  }
}

function formatBytes(size: number): string {
  return `${(size / (1 << 20)).toFixed(2)} MiB`;
}
