/**
 * Checks values against validators, and says what is wrong in Convex's words:
 * get-convex/convex-backend crates/common/src/schemas/validator.rs
 */

import { CommitTsPlaceholder, jsonToConvex, type JSONValue } from "convex/values";
import {
  fieldsOf,
  formatValidator,
  formatValue,
  isPlainObject,
  literalText,
  type AnyValidator,
} from "./validator_text.ts";

/** A value that does not match; the message is Convex's. */
export class ValidationError extends Error {}

type TableOfId = (id: string) => string | null;

/** Throws `ValidationError` at the first mismatch, in Convex's order of checks. */
export function validateValue(validator: AnyValidator, value: unknown, tableOfId: TableOfId): void {
  check(validator, value, "", tableOfId);
}

function check(validator: AnyValidator, value: unknown, path: string, tableOfId: TableOfId): void {
  switch (validator.type) {
    case "any":
      return;
    case "null":
      return expect(value === null, validator, value, path);
    case "number":
      return expect(typeof value === "number", validator, value, path);
    case "bigint":
      return expect(typeof value === "bigint", validator, value, path);
    case "commitTs":
      return expect(typeof value === "bigint" || value instanceof CommitTsPlaceholder, validator, value, path);
    case "boolean":
      return expect(typeof value === "boolean", validator, value, path);
    case "string":
      return expect(typeof value === "string", validator, value, path);
    case "bytes":
      return expect(value instanceof ArrayBuffer, validator, value, path);
    case "literal":
      return checkLiteral(jsonToConvex(validator.value as JSONValue), value, path);
    case "id":
      return checkId(validator, value, path, tableOfId);
    case "array":
      return checkArray(validator, value, path, tableOfId);
    case "record":
      return checkRecord(validator, value, path, tableOfId);
    case "object":
      return checkObject(validator, value, path, tableOfId);
    case "union":
      return checkUnion(validator, value, path, tableOfId);
    default:
      throw validator satisfies never;
  }
}

function expect(matches: boolean, validator: AnyValidator, value: unknown, path: string): void {
  if (matches) return;
  throw new ValidationError(
    `Value does not match validator.\n${context(path)}\nValue: ${formatValue(value)}\nValidator: ${formatValidator(validator)}`,
  );
}

function checkLiteral(literal: unknown, value: unknown, path: string): void {
  if (Object.is(value, literal)) return;
  throw new ValidationError(
    `\`${formatValue(value)}\` does not match literal validator \`v.literal(${literalText(literal)})\`.${context(path)}`,
  );
}

function checkId(
  validator: Extract<AnyValidator, { type: "id" }>,
  value: unknown,
  path: string,
  tableOfId: TableOfId,
): void {
  const table = typeof value === "string" ? tableOfId(value) : null;
  if (table === null) return expect(false, validator, value, path);
  if (table === validator.tableName) return;
  const from = table.startsWith("_") ? "from a system table" : `from table \`${table}\``;
  throw new ValidationError(
    `Found ID "${String(value)}" ${from}, which does not match the table name in validator \`v.id("${validator.tableName}")\`.${context(path)}`,
  );
}

function checkArray(
  validator: Extract<AnyValidator, { type: "array" }>,
  value: unknown,
  path: string,
  tableOfId: TableOfId,
): void {
  if (!Array.isArray(value)) return expect(false, validator, value, path);
  value.forEach((item, index) => check(validator.value, item, `${path}[${index}]`, tableOfId));
}

function checkRecord(
  validator: Extract<AnyValidator, { type: "record" }>,
  value: unknown,
  path: string,
  tableOfId: TableOfId,
): void {
  if (!isPlainObject(value)) return expect(false, validator, value, path);
  for (const [key, item] of fieldsOf(value)) {
    check(validator.keys, key, `${path}.keys()`, tableOfId);
    check(validator.values.fieldType, item, `${path}.values()`, tableOfId);
  }
}

function checkObject(
  validator: Extract<AnyValidator, { type: "object" }>,
  value: unknown,
  path: string,
  tableOfId: TableOfId,
): void {
  if (!isPlainObject(value)) return expect(false, validator, value, path);
  const complain = (reason: string): never => {
    throw new ValidationError(
      `${reason}\n${context(path)}\nObject: ${formatValue(value)}\nValidator: ${formatValidator(validator)}`,
    );
  };
  for (const [name, { fieldType, optional }] of fieldsOf(validator.value)) {
    const item = Object.hasOwn(value, name) ? value[name] : undefined;
    if (item !== undefined) check(fieldType, item, `${path}.${name}`, tableOfId);
    else if (!optional) {
      complain(
        `Object is missing the required field \`${name}\`. Consider wrapping the field validator in \`v.optional(...)\` if this is expected.`,
      );
    }
  }
  for (const [name] of fieldsOf(value)) {
    if (!Object.hasOwn(validator.value, name)) {
      complain(`Object contains extra field \`${name}\` that is not in the validator.`);
    }
  }
}

function checkUnion(
  validator: Extract<AnyValidator, { type: "union" }>,
  value: unknown,
  path: string,
  tableOfId: TableOfId,
): void {
  const [only, ...others] = validator.value;
  if (only && others.length === 0) return check(only, value, path, tableOfId);
  const matches = validator.value.some((member) => {
    try {
      check(member, value, path, tableOfId);
      return true;
    } catch {
      return false;
    }
  });
  expect(matches, validator, value, path);
}

function context(path: string): string {
  return path === "" ? "" : `Path: ${path}`;
}
