/** Values as text, for log lines and uncaught non-errors. */

const MAX_DEPTH = 6;

/** Strings quoted, everything else as JavaScript would write it. */
export function inspect(value: unknown, depth = 0, seen: readonly object[] = []): string {
  switch (typeof value) {
    case "string":
      return `'${value.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
    case "bigint":
      return `${value}n`;
    case "function":
      return `[Function: ${value.name || "anonymous"}]`;
    case "object":
      return value === null ? "null" : inspectObject(value, depth, seen);
    case "undefined":
    case "boolean":
    case "number":
    case "symbol":
      return Object.is(value, -0) ? "-0" : String(value);
    default:
      return String(value);
  }
}

function inspectObject(value: object, depth: number, seen: readonly object[]): string {
  if (seen.includes(value)) return "[Circular]";
  if (depth > MAX_DEPTH) return Array.isArray(value) ? "[Array]" : "[Object]";
  const inside = [...seen, value];
  const show = (item: unknown): string => inspect(item, depth + 1, inside);
  if (Array.isArray(value)) return value.length === 0 ? "[]" : `[ ${value.map(show).join(", ")} ]`;
  if (isError(value)) return `[${value.name}: ${value.message}]`;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "Invalid Date" : value.toISOString();
  if (value instanceof Map) {
    return `Map (${value.size}) {${[...value].map(([k, v]) => `${show(k)} => ${show(v)}`).join(", ")}}`;
  }
  if (value instanceof Set) return `Set (${value.size}) {${[...value].map(show).join(", ")}}`;
  const entries = Object.entries(value);
  return entries.length === 0
    ? "{}"
    : `{ ${entries.map(([key, item]) => `${propertyName(key)}: ${show(item)}`).join(", ")} }`;
}

function propertyName(key: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(key) ? key : inspect(key);
}

// By shape: errors of the other realm are not instances of this one's Error.
function isError(value: object): value is Error {
  return Object.prototype.toString.call(value) === "[object Error]";
}
