/** Validator JSON as Convex parses it: get-convex/convex-backend crates/common/src/schemas/json.rs */

import { DeployError } from "../../errors.ts";
import { jsonToConvex, type JSONValue } from "convex/values";
import type { ValidatorJson } from "../../runtime_types.ts";
import { formatValidator, type AnyValidator } from "../../runtime/validator_text.ts";
import { fieldProblem, identifierProblem } from "../../identifiers.ts";

interface FieldJson {
  readonly fieldType: ValidatorJson;
  readonly optional: boolean;
}

/** Throws the `DeployError` that Convex answers for a validator that it cannot parse. */
export function checkValidator(validator: ValidatorJson): void {
  switch (validator.type) {
    case "id":
      return complain(identifierProblem(String(validator["tableName"])));
    case "array":
      return checkValidator(validator["value"] as ValidatorJson);
    case "union":
      return (validator["value"] as ValidatorJson[]).forEach(checkValidator);
    case "record":
      return checkRecord(validator["keys"] as ValidatorJson, validator["values"] as FieldJson);
    case "literal":
      return checkLiteral(jsonToConvex(validator["value"] as JSONValue));
    case "object":
      return checkFields(validatorFields(validator));
    default:
      return;
  }
}

function checkFields(fields: ReadonlyMap<string, FieldJson>): void {
  for (const [name, field] of [...fields].sort(([a], [b]) => (a < b ? -1 : 1))) {
    complain(fieldProblem(name));
    try {
      checkValidator(field.fieldType);
    } catch (error) {
      if (!(error instanceof DeployError)) throw error;
      throw new DeployError(error.code, `Invalid validator for key \`${name}\`: ${error.message}`);
    }
  }
}

function checkRecord(keys: ValidatorJson, values: FieldJson): void {
  checkValidator(keys);
  if (!isStringSubtype(keys)) {
    throw new DeployError(
      "InvalidRecordType",
      `Records can only have string keys. Your validator contains a record with key typed as \`${formatValidator(keys as unknown as AnyValidator)}\`, which is not a subtype of \`v.string()\``,
    );
  }
  checkValidator(values.fieldType);
  if (hasStringLiteral(keys)) throw new DeployError("InvalidRecordType", "Records cannot have string literal keys");
  if (values.optional) throw new DeployError("InvalidRecordType", "Records cannot have optional values");
}

function isStringSubtype(validator: ValidatorJson): boolean {
  if (validator.type === "union") return (validator["value"] as ValidatorJson[]).every(isStringSubtype);
  return validator.type === "string" || validator.type === "id" || isStringLiteral(validator);
}

function hasStringLiteral(validator: ValidatorJson): boolean {
  return validator.type === "union"
    ? (validator["value"] as ValidatorJson[]).some(hasStringLiteral)
    : isStringLiteral(validator);
}

function isStringLiteral(validator: ValidatorJson): boolean {
  return validator.type === "literal" && typeof validator["value"] === "string";
}

function checkLiteral(value: unknown): void {
  if (["string", "number", "bigint", "boolean"].includes(typeof value)) return;
  complain(`Value ${JSON.stringify(value)} is not a valid literal.`);
}

function complain(problem: string | null): void {
  if (problem !== null) throw new DeployError("InvalidSchema", problem);
}

/** The fields of an object validator. */
export function validatorFields(validator: ValidatorJson): Map<string, FieldJson> {
  return new Map(Object.entries((validator["value"] ?? {}) as Record<string, FieldJson>));
}

/** Whether documents of `validator` can have the field at `path`. */
export function hasField(validator: ValidatorJson, path: readonly string[]): boolean {
  const [first, ...rest] = path;
  if (first === undefined || validator.type === "any") return true;
  if (validator.type === "union") {
    return (validator["value"] as ValidatorJson[]).some((member) => hasField(member, path));
  }
  if (validator.type !== "object") return false;
  const field = validatorFields(validator).get(first);
  return field !== undefined && hasField(field.fieldType, rest);
}

/** Whether the field at `path` can hold an array of numbers. */
export function canHoldVector(validator: ValidatorJson, path: readonly string[]): boolean {
  const [first, ...rest] = path;
  if (validator.type === "any") return true;
  if (validator.type === "union") {
    return (validator["value"] as ValidatorJson[]).some((member) => canHoldVector(member, path));
  }
  if (first === undefined) {
    return validator.type === "array" && ["number", "any"].includes((validator["value"] as ValidatorJson).type);
  }
  if (validator.type !== "object") return false;
  const field = validatorFields(validator).get(first);
  return field === undefined || canHoldVector(field.fieldType, rest);
}
