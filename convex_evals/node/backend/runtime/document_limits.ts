/**
 * What may be stored: https://docs.convex.dev/production/state/limits#documents,
 * get-convex/convex-backend crates/common/src/document.rs
 */

import { getConvexSize, type JSONValue, type Value } from "convex/values";
import { fieldNameProblem, identifierProblem } from "../identifiers.ts";
import { fieldsOf, formatValue } from "./validator_text.ts";
import { checkedNesting, checkValue, isObject } from "./value_limits.ts";

const MAX_DOCUMENT_BYTES = 1 << 20;
const MAX_DOCUMENT_NESTING = 16;

type Fields = Readonly<Record<string, Value>>;
export type WriteMethod = "db.insert" | "db.patch" | "db.replace";

/** Refuses what cannot be an argument of a write, before the document is looked at. */
export function checkWriteArguments(method: WriteMethod, table: string | null, value: unknown): void {
  const problem = table === null ? null : identifierProblem(table);
  if (problem !== null) throw new Error(`Invalid argument \`table\` for \`${method}\`: ${problem}`);
  if (!isObject(value)) throw new Error(`Invalid argument \`value\` for \`${method}\`: Value must be an Object`);
  checkValue(value, (reason) => new Error(`Invalid argument \`value\` for \`${method}\`: ${reason}`));
}

/**
 * Refuses what is no patch. It is looked at as JSON: of what is no object there, integers and bytes are objects.
 * get-convex/convex-backend crates/database/src/patch.rs
 */
export function checkPatch(value: JSONValue): void {
  const isMap = typeof value === "object" && value !== null && !Array.isArray(value);
  const problem = isMap
    ? Object.keys(value)
        .map(fieldNameProblem)
        .find((found) => found !== null)
    : "Value must be an Object";
  if (problem) throw new Error(`Invalid argument \`value\` for \`db.patch\`: ${problem}`);
}

/** Throws when `document`, without its system fields, is larger, deeper or wider than Convex stores. */
export function checkDocument(table: string, document: Fields): void {
  // System tables hold what the backend itself writes.
  if (table.startsWith("_")) return;
  const size = getConvexSize(document);
  if (size > MAX_DOCUMENT_BYTES) {
    throw new Error(`Value is too large (${formatBytes(size)} > maximum size ${formatBytes(MAX_DOCUMENT_BYTES)})`);
  }
  const nesting = checkedNesting(document);
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
