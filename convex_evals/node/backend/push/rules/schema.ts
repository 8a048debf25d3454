/** Schemas as Convex parses them: get-convex/convex-backend crates/common/src/schemas/json.rs, mod.rs */

import { DeployError } from "../../errors.ts";
import type { SchemaJson, TableJson, ValidatorJson } from "../../runtime_types.ts";
import { formatValidator, type AnyValidator } from "../../runtime/validator_text.ts";
import { identifierProblem } from "../../identifiers.ts";
import { checkIndexReferences, checkIndexes } from "./indexes.ts";
import type { PushRule } from "./rule.ts";
import { checkValidator, validatorFields } from "./validators.ts";

const MAX_TABLES = 10_000;

export const schemaRule: PushRule = (push) => {
  for (const definition of push.definitions.values()) {
    if (definition.schema) evaluating(definition.schema);
  }
};

// get-convex/convex-backend crates/application/src/lib.rs (evaluate_schema)
function evaluating(schema: SchemaJson): void {
  try {
    checkSchema(schema);
  } catch (error) {
    if (!(error instanceof DeployError)) throw error;
    throw new DeployError(error.code, `Hit an error while evaluating your schema:\n${error.message}`);
  }
}

/** Throws the first `DeployError` of one schema. */
export function checkSchema(schema: SchemaJson): void {
  if (schema.tables.length > MAX_TABLES) {
    throw new DeployError("TooManyTables", `Number of tables cannot exceed ${MAX_TABLES}.`);
  }
  for (const table of schema.tables) {
    checkDocumentType(table.documentType);
    checkTableName(table.tableName);
    checkIndexes(table);
  }
  if (!schema.schemaValidation) return;
  for (const table of [...schema.tables].sort((a, b) => (a.tableName < b.tableName ? -1 : 1))) {
    checkIndexReferences(table);
  }
}

function checkTableName(name: string): void {
  if (identifierProblem(name) !== null) {
    throw new DeployError(
      "InvalidTableName",
      `Invalid table name: "${name}". Identifiers must start with a letter and can only contain letters, digits, and underscores.`,
    );
  }
  if (name.startsWith("_")) throw new DeployError("TableNameReserved", `${name} is a reserved table name.`);
}

function checkDocumentType(validator: ValidatorJson): void {
  checkValidator(validator);
  const members = validator.type === "union" ? (validator["value"] as ValidatorJson[]) : [validator];
  if (validator.type === "any") return;
  for (const member of members) {
    if (member.type === "object") continue;
    const found = formatValidator(member as unknown as AnyValidator);
    throw new DeployError(
      "InvalidTopLevelTypeInSchemaError",
      `The document validator in a schema must be an object, a union of objects, or \`v.any()\`. Found ${found}. To learn more, see the schema documentation at https://docs.convex.dev/database/schemas.`,
    );
  }
}

/**
 * The schema without validators for `_id` and other system fields of documents:
 * Convex drops them, whatever they say.
 */
export function withoutSystemFields(schema: SchemaJson): SchemaJson {
  // Of tables of one name the last counts, as in Convex: get-convex/convex-backend crates/common/src/schemas/json.rs
  const tables = [...new Map(schema.tables.map((table) => [table.tableName, table])).values()];
  return { ...schema, tables: tables.map(tableWithoutSystemFields) };
}

function tableWithoutSystemFields(table: TableJson): TableJson {
  return { ...table, documentType: documentWithoutSystemFields(table.documentType) };
}

function documentWithoutSystemFields(validator: ValidatorJson): ValidatorJson {
  if (validator.type === "union") {
    return { ...validator, value: (validator["value"] as ValidatorJson[]).map(documentWithoutSystemFields) };
  }
  if (validator.type !== "object") return validator;
  return {
    ...validator,
    value: Object.fromEntries([...validatorFields(validator)].filter(([name]) => !name.startsWith("_"))),
  };
}
