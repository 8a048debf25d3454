/**
 * What may be stored: https://docs.convex.dev/production/state/limits#documents,
 * get-convex/convex-backend crates/value/src/{size,object,array}.rs, crates/common/src/document.rs
 */

import { getConvexSize, type Value } from "convex/values";
import { identifierProblem } from "../identifiers.ts";
import { fieldsOf, formatValue } from "./validator_text.ts";

const MAX_DOCUMENT_BYTES = 1 << 20;
export const MAX_VALUE_NESTING = 64;
const MAX_DOCUMENT_NESTING = 16;
const MAX_ARRAY_LENGTH = 8192;
const MAX_FIELDS = 1024;

type Fields = Readonly<Record<string, Value>>;
export type WriteMethod = "db.insert" | "db.patch" | "db.replace";

/** Refuses what cannot be an argument of a write, before the document is looked at. */
export function checkWriteArguments(method: WriteMethod, table: string | null, value: unknown): void {
  const problem = table === null ? null : identifierProblem(table);
  if (problem !== null) throw new Error(`Invalid argument \`table\` for \`${method}\`: ${problem}`);
  if (!isObject(value)) throw new Error(`Invalid argument \`value\` for \`${method}\`: Value must be an Object`);
  try {
    nestingOf(value);
  } catch (error) {
    throw new Error(`Invalid argument \`value\` for \`${method}\`: ${(error as Error).message}`);
  }
}

/** Throws when `document`, without its system fields, is larger, deeper or wider than Convex stores. */
export function checkDocument(table: string, document: Fields): void {
  // System tables hold what the backend itself writes.
  if (table.startsWith("_")) return;
  const size = getConvexSize(document);
  if (size > MAX_DOCUMENT_BYTES) {
    throw new Error(`Value is too large (${formatBytes(size)} > maximum size ${formatBytes(MAX_DOCUMENT_BYTES)})`);
  }
  const nesting = nestingOf(document);
  const violations = [
    ...(nesting > MAX_DOCUMENT_NESTING
      ? [`Document is too nested (nested ${nesting} levels deep > maximum nesting ${MAX_DOCUMENT_NESTING})`]
      : []),
    ...fieldsOf(document)
      .filter(([name]) => name.startsWith("_") && name !== "_id" && name !== "_creationTime")
      .map(([name]) => `Field '${name}' starts with an underscore, which is only allowed for system fields like '_id'`),
  ];
  if (violations.length === 0) return;
  throw new Error(`Document(value: ${formatValue(document)}) isn't a valid document: ${violations.join("\n ")}`);
}

/** Refuses system fields that differ from those of the document that is written. */
export function checkSystemFields(document: Fields, value: Fields): void {
  const { _id: id, _creationTime: created } = document;
  if (value["_id"] !== undefined && value["_id"] !== id) {
    throw new Error(`Provided document ID ${formatValue(id)} doesn't match '_id' field ${formatValue(value["_id"])}`);
  }
  if (value["_creationTime"] !== undefined && value["_creationTime"] !== created) {
    throw new Error(
      `Provided creation time ${String(created)} doesn't match '_creationTime' field in ${formatValue(value)}`,
    );
  }
}

/** 0 for primitives, 1 more than its deepest item otherwise; throws where a part is too large. */
function nestingOf(value: unknown): number {
  const isArray = Array.isArray(value);
  if (!isArray && !isObject(value)) return 0;
  if (isArray && value.length > MAX_ARRAY_LENGTH) {
    throw new Error(`Array length is too long (${value.length} > maximum length ${MAX_ARRAY_LENGTH})`);
  }
  const items: unknown[] = isArray ? value : Object.values(value);
  if (!isArray && items.length > MAX_FIELDS) {
    throw new Error(`Object has too many fields (${items.length} > maximum number ${MAX_FIELDS})`);
  }
  const nesting = 1 + items.reduce<number>((deepest, item) => Math.max(deepest, nestingOf(item)), 0);
  if (nesting > MAX_VALUE_NESTING) {
    throw new Error(`Value is too nested (nested ${nesting} levels deep > maximum nesting ${MAX_VALUE_NESTING})`);
  }
  return nesting;
}

/** Whether arrays and objects are nested more than `levels` deep. */
export function isNestedDeeper(value: unknown, levels: number): boolean {
  if (!Array.isArray(value) && !isObject(value)) return false;
  return levels === 0 || Object.values(value).some((item) => isNestedDeeper(item, levels - 1));
}

// Encoded bytes, integers and the like are objects in JSON: they count as values.
function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof ArrayBuffer);
}

const UNITS = ["B", "KiB", "MiB", "GiB"];

/** "1.05 MiB" */
export function formatBytes(size: number): string {
  let unit = 0;
  let amount = size;
  while (amount >= 1024 && unit < UNITS.length - 1) {
    amount /= 1024;
    unit++;
  }
  return `${Number.isInteger(amount) ? amount : amount.toFixed(2)} ${UNITS[unit]}`;
}
