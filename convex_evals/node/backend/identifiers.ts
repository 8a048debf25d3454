/** Names that Convex accepts: get-convex/convex-backend crates/sync_types/src/identifier.rs */

const MAX_IDENTIFIER_LENGTH = 64;
const MAX_FIELD_NAME_LENGTH = 1024;

/** What is wrong with a table name, function name or declared field name; null when nothing is. */
export function identifierProblem(name: string): string | null {
  const first = [...name][0];
  if (first === undefined) return "Identifier cannot be empty";
  if (!/[A-Za-z_]/.test(first)) {
    return `Invalid first character '${first}' in ${name}: Identifiers must start with an alphabetic character or underscore`;
  }
  const invalid = [...name].find((character) => !/[A-Za-z0-9_]/.test(character));
  if (invalid !== undefined) {
    return `Identifier ${name} has invalid character '${invalid}': Identifiers can only contain alphanumeric characters or underscores`;
  }
  if (name.length > MAX_IDENTIFIER_LENGTH) {
    return `Identifier is too long (${name.length} > maximum ${MAX_IDENTIFIER_LENGTH})`;
  }
  if (/^_+$/.test(name)) return `Identifier ${name} cannot have exclusively underscores`;
  return null;
}

/** What is wrong with the name of a field that a value has; null when nothing is. */
export function fieldNameProblem(name: string): string | null {
  if (name.startsWith("$")) return `Field name ${name} starts with '$', which is reserved.`;
  const invalid = [...name].find((character) => !/[\x20-\x7e]/.test(character));
  if (invalid !== undefined) {
    return `Field name ${name} has invalid character '${invalid}': Field names can only contain non-control ASCII characters`;
  }
  if (name.length > MAX_FIELD_NAME_LENGTH) {
    return `Field name is too long (${name.length} > maximum ${MAX_FIELD_NAME_LENGTH})`;
  }
  return null;
}

/** What is wrong with the name of a declared field; null when nothing is. */
export function fieldProblem(name: string): string | null {
  return fieldNameProblem(name) ?? identifierProblem(name);
}

/** What is wrong with a field path like "profile.name"; null when nothing is. */
export function fieldPathProblem(path: string): string | null {
  for (const part of path.split(".")) {
    const problem = fieldProblem(part);
    if (problem !== null) return problem;
  }
  return null;
}
