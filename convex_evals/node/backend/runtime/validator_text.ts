/** Validators and values as Convex prints them in errors. */

import { CommitTsPlaceholder, jsonToConvex, type JSONValue } from "convex/values";

interface FieldValidator {
  readonly fieldType: AnyValidator;
  readonly optional: boolean;
}

/** Validator JSON, as `exportArgs()` and `schema.export()` write it. */
export type AnyValidator =
  | { readonly type: "any" | "null" | "number" | "bigint" | "commitTs" | "boolean" | "string" | "bytes" }
  | { readonly type: "literal"; readonly value: unknown }
  | { readonly type: "id"; readonly tableName: string }
  | { readonly type: "array"; readonly value: AnyValidator }
  | { readonly type: "record"; readonly keys: AnyValidator; readonly values: FieldValidator }
  | { readonly type: "object"; readonly value: Readonly<Record<string, FieldValidator>> }
  | { readonly type: "union"; readonly value: readonly AnyValidator[] };

/** "v.object({name: v.string()})" */
export function formatValidator(validator: AnyValidator): string {
  switch (validator.type) {
    case "number":
      return "v.float64()";
    case "bigint":
      return "v.int64()";
    case "any":
    case "null":
    case "boolean":
    case "string":
    case "bytes":
    case "commitTs":
      return `v.${validator.type}()`;
    case "literal":
      return `v.literal(${literalText(jsonToConvex(validator.value as JSONValue))})`;
    case "id":
      return `v.id("${validator.tableName}")`;
    case "array":
      return `v.array(${formatValidator(validator.value)})`;
    case "record":
      return `v.record(${formatValidator(validator.keys)}, ${formatValidator(validator.values.fieldType)})`;
    case "object":
      return `v.object({${fieldsOf(validator.value)
        .map(([name, field]) => `${name}: ${formatField(field)}`)
        .join(", ")}})`;
    case "union":
      return `v.union(${validator.value.map(formatValidator).join(", ")})`;
    default:
      throw validator satisfies never;
  }
}

function formatField({ fieldType, optional }: FieldValidator): string {
  return optional ? `v.optional(${formatValidator(fieldType)})` : formatValidator(fieldType);
}

/** The argument of `v.literal`: JSON where the value has it. */
export function literalText(literal: unknown): string {
  if (typeof literal === "bigint") return "<bigint>";
  if (typeof literal === "number" && !Number.isFinite(literal)) return "<number>";
  return formatValue(literal);
}

/** "{name: \"x\", size: 1.0}" */
export function formatValue(value: unknown): string {
  if (value instanceof CommitTsPlaceholder) return "commitTs";
  switch (typeof value) {
    case "string":
      return JSON.stringify(value);
    case "number":
      return formatFloat(value);
    case "bigint":
      return String(value);
    case "object":
      return value === null ? "null" : formatObject(value);
    case "undefined":
    case "boolean":
    case "symbol":
    case "function":
      return String(value);
    default:
      return String(value);
  }
}

function formatObject(value: object): string {
  if (value instanceof ArrayBuffer) {
    return `b"${Array.from(new Uint8Array(value), (byte) => String.fromCharCode(byte)).join("")}"`;
  }
  if (Array.isArray(value)) return `[${value.map(formatValue).join(", ")}]`;
  return `{${fieldsOf(value as Record<string, unknown>)
    .map(([name, item]) => `${name}: ${formatValue(item)}`)
    .join(", ")}}`;
}

// As Rust prints an f64.
function formatFloat(value: number): string {
  if (Object.is(value, -0)) return "-0.0";
  if (value === Infinity) return "inf";
  if (value === -Infinity) return "-inf";
  return Number.isInteger(value) && Math.abs(value) < 1e16 ? `${value}.0` : String(value);
}

/** Fields that are present, ordered by name as Convex orders them. */
export function fieldsOf<T>(object: Readonly<Record<string, T>>): [string, T][] {
  return Object.entries(object)
    .filter(([, item]) => item !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

/** Objects as Convex has them: no class instances, of whichever realm. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value) || value instanceof CommitTsPlaceholder) {
    return false;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || (prototype as { constructor?: { name?: string } }).constructor?.name === "Object";
}
