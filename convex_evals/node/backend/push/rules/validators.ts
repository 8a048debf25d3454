/** Reading validator JSON. */

import type { ValidatorJson } from "../../app/runtime_types.ts";

interface FieldJson {
  readonly fieldType: ValidatorJson;
  readonly optional: boolean;
}

/** The fields of an object validator. */
export function validatorFields(validator: ValidatorJson): Map<string, FieldJson> {
  return new Map(Object.entries((validator["value"] ?? {}) as Record<string, FieldJson>));
}

/** Visits a validator and everything inside it. */
export function walkValidator(validator: ValidatorJson, visit: (validator: ValidatorJson) => void): void {
  visit(validator);
  for (const child of children(validator)) walkValidator(child, visit);
}

function children(validator: ValidatorJson): ValidatorJson[] {
  switch (validator.type) {
    case "array":
      return [validator["value"] as ValidatorJson];
    case "union":
      return validator["value"] as ValidatorJson[];
    case "record":
      return [validator["keys"] as ValidatorJson, (validator["values"] as FieldJson).fieldType];
    case "object":
      return [...validatorFields(validator).values()].map((field) => field.fieldType);
    default:
      return [];
  }
}

/** Whether documents of `validator` can have the field at `path`. */
export function hasField(validator: ValidatorJson, path: readonly string[]): boolean {
  const [first, ...rest] = path;
  if (first === undefined || validator.type === "any") return true;
  if (validator.type === "union") return (validator["value"] as ValidatorJson[]).some((member) => hasField(member, path));
  if (validator.type !== "object") return false;
  const field = validatorFields(validator).get(first);
  return field !== undefined && hasField(field.fieldType, rest);
}
