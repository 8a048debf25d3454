/** Validators as text: equal text means that they accept the same values. */
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
      const elements = unionMembers(validator.value);
      return elements.length > 1 ? `(${elements.join(" | ")})[]` : `${validatorText(validator.value)}[]`;
    }
    case "record":
      return `Record<${validatorText(validator.keys)}, ${validatorText(validator.values.fieldType)}>`;
    case "union":
      return unionMembers(validator).join(" | ") || "never";
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
function fieldTexts(validator: Extract<ValidatorJSON, { type: "object" }>): Map<string, string> {
  const fields = Object.entries(validator.value).map(
    ([name, { fieldType, optional }]) => [name, `${optional ? "optional " : ""}${validatorText(fieldType)}`] as const,
  );
  return new Map(fields.sort(([a], [b]) => (a < b ? -1 : 1)));
}

function objectText(fields: Map<string, string>): string {
  if (fields.size === 0) return "{}";
  const texts = [...fields].map(([name, text]) => {
    // Another name could read like more fields.
    const shown = /^\w+$/.test(name) ? name : JSON.stringify(name);
    return text.startsWith("optional ") ? `${shown}?: ${text.slice("optional ".length)}` : `${shown}: ${text}`;
  });
  return `{ ${texts.join(", ")} }`;
}
