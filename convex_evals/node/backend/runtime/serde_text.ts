/** What Convex says of JSON that is of another type than it expects: https://docs.rs/serde_json (Error) */

import { formatValue } from "./validator_text.ts";

const MAX_U64 = 2 ** 64;

/** "invalid type: integer `5`, expected a string" */
export function wrongType(value: unknown, expected: string): string {
  return `invalid type: ${described(value)}, expected ${expected}`;
}

/** What is wrong with a value that is to be a `usize`, or null. */
export function sizeProblem(value: unknown): string | null {
  if (typeof value !== "number" || !isInteger(value)) return wrongType(value, "usize");
  return value < 0 ? `invalid value: ${described(value)}, expected usize` : null;
}

function described(value: unknown): string {
  if (value === null) return "null";
  if (typeof value === "string") return `string ${formatValue(value)}`;
  if (typeof value === "boolean") return `boolean \`${value}\``;
  if (Array.isArray(value)) return "sequence";
  if (typeof value !== "number") return "map";
  if (isInteger(value)) return `integer \`${value}\``;
  return `floating point \`${Number.isInteger(value) ? value.toExponential().replace("+", "") : value}\``;
}

// Larger ones are read as floating point numbers.
function isInteger(value: number): boolean {
  return Number.isInteger(value) && Math.abs(value) < MAX_U64;
}
