/** Validators as text: equal text means that they accept the same values, however they were written. */
import type { ValidatorJSON } from "convex/values";

/**
 * The canonical text of a validator: fields and union members in one order, nested unions flattened, a union of one
 * member replaced by that member. Reads like a type: `{ name: string, tags?: string[] }`.
 */
export function validatorText(validator: ValidatorJSON): string {
  switch (validator.type) {
    case "null":
    case "number":
    case "boolean":
    case "string":
    case "any":
    case "bytes":
    case "commitTs":
      return validator.type;
    case "bigint":
      return "int64";
    case "literal":
      return JSON.stringify(validator.value);
    case "id":
      return `Id<"${validator.tableName}">`;
    case "array": {
      const element = validatorText(validator.value);
      return element.includes(" | ") && !element.startsWith("{") ? `(${element})[]` : `${element}[]`;
    }
    case "record":
      return `Record<${validatorText(validator.keys)}, ${validatorText(validator.values.fieldType)}>`;
    case "union":
      return unionMembers(validator).join(" | ");
    case "object":
      return objectText(fieldTexts(validator));
    default:
      // A kind that a newer Convex adds is still compared, by its JSON.
      return JSON.stringify(validator satisfies never);
  }
}

/** The canonical texts of a union's members, each once, in order; any other validator is its own only member. */
export function unionMembers(validator: ValidatorJSON): string[] {
  const texts = new Set<string>();
  const visit = (member: ValidatorJSON): void => {
    if (member.type === "union") member.value.forEach(visit);
    else texts.add(validatorText(member));
  };
  visit(validator);
  return [...texts].sort();
}

/** The fields of an object validator: name (with `?` when optional) and canonical text. */
export function fieldTexts(validator: Extract<ValidatorJSON, { type: "object" }>): Map<string, string> {
  const fields = Object.entries(validator.value).map(
    ([name, { fieldType, optional }]) => [name, `${optional ? "optional " : ""}${validatorText(fieldType)}`] as const,
  );
  return new Map(fields.sort(([a], [b]) => (a < b ? -1 : 1)));
}

function objectText(fields: Map<string, string>): string {
  if (fields.size === 0) return "{}";
  const texts = [...fields].map(([name, text]) =>
    text.startsWith("optional ") ? `${name}?: ${text.slice("optional ".length)}` : `${name}: ${text}`,
  );
  return `{ ${texts.join(", ")} }`;
}

/** In words, how `candidate` differs from `expected`; nothing when they accept the same. `subject` opens each line. */
export function validatorDifferences(subject: string, candidate: ValidatorJSON, expected: ValidatorJSON): string[] {
  if (validatorText(candidate) === validatorText(expected)) return [];
  if (candidate.type === "object" && expected.type === "object") {
    return fieldDifferences(subject, fieldTexts(candidate), fieldTexts(expected));
  }
  if (candidate.type === "union" && expected.type === "union") {
    const [has, needs] = [unionMembers(candidate), unionMembers(expected)];
    return [
      ...needs.filter((member) => !has.includes(member)).map((member) => `${subject} must allow ${member}`),
      ...has.filter((member) => !needs.includes(member)).map((member) => `${subject} must not allow ${member}`),
    ];
  }
  return [`${subject} must be ${validatorText(expected)}, not ${validatorText(candidate)}`];
}

function fieldDifferences(subject: string, candidate: Map<string, string>, expected: Map<string, string>): string[] {
  const differences: string[] = [];
  for (const [name, text] of expected) {
    const found = candidate.get(name);
    if (found === undefined) differences.push(`${subject} must have a field \`${name}\` (${text})`);
    else if (found !== text) differences.push(`${subject}: the field \`${name}\` must be ${text}, not ${found}`);
  }
  for (const name of candidate.keys()) {
    if (!expected.has(name)) differences.push(`${subject} has a field \`${name}\` that the task does not ask for`);
  }
  return differences;
}
