/** How one validator differs from another, by what they accept. */
import type { ValidatorJSON } from "convex/values";
import { acceptSameValues, acceptsAllOf } from "./equivalence.ts";
import { unionMembers, validatorText } from "./validators.ts";

type Fields = Extract<ValidatorJSON, { type: "object" }>["value"];

/** In words, how `candidate` differs from `expected`; nothing when they accept the same. `subject` opens each line. */
export function validatorDifferences(subject: string, candidate: ValidatorJSON, expected: ValidatorJSON): string[] {
  if (acceptSameValues(candidate, expected)) return [];
  if (candidate.type === "object" && expected.type === "object") {
    return fieldDifferences(subject, candidate.value, expected.value);
  }
  if (candidate.type === "union" && expected.type === "union") {
    return [
      ...missingMembers(candidate, expected).map((member) => `${subject} must allow ${member}`),
      ...missingMembers(expected, candidate).map((member) => `${subject} must not allow ${member}`),
    ];
  }
  return [`${subject} must be ${validatorText(expected)}, not ${validatorText(candidate)}`];
}

/** The members of `other`, as text, of which `validator` does not accept everything. */
function missingMembers(validator: ValidatorJSON, other: ValidatorJSON): string[] {
  if (other.type === "union") {
    return [...new Set(other.value.flatMap((each) => missingMembers(validator, each)))].sort();
  }
  return acceptsAllOf(validator, other) ? [] : unionMembers(other);
}

function fieldDifferences(subject: string, candidate: Fields, expected: Fields): string[] {
  const text = ({ fieldType, optional }: Fields[string]): string =>
    `${optional ? "optional " : ""}${validatorText(fieldType)}`;
  const differences: string[] = [];
  for (const [name, field] of sortedEntries(expected)) {
    const found = Object.hasOwn(candidate, name) ? candidate[name] : undefined;
    if (found === undefined) differences.push(`${subject} must have a field \`${name}\` (${text(field)})`);
    else if (found.optional !== field.optional || !acceptSameValues(found.fieldType, field.fieldType)) {
      differences.push(`${subject}: the field \`${name}\` must be ${text(field)}, not ${text(found)}`);
    }
  }
  for (const [name] of sortedEntries(candidate)) {
    if (!Object.hasOwn(expected, name)) {
      differences.push(`${subject} has a field \`${name}\` that the task does not ask for`);
    }
  }
  return differences;
}

function sortedEntries(fields: Fields): [string, Fields[string]][] {
  return Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1));
}
