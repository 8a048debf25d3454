/** https://docs.convex.dev/database/schemas, https://docs.convex.dev/database/reading-data/indexes */

import { DeployError } from "../../errors.ts";
import type { SchemaJson, TableJson } from "../../app/runtime_types.ts";
import { checkIndexes } from "./indexes.ts";
import type { DeployRule } from "./rule.ts";
import { validatorFields, walkValidator } from "./validators.ts";

const MAX_TABLES = 10_000;

export const schemaRule: DeployRule = (push) => {
  for (const definition of push.definitions.values()) {
    if (definition.schema) checkSchema(definition.schema);
  }
};

/** Throws the first `DeployError` of one schema. */
export function checkSchema(schema: SchemaJson): void {
  if (schema.tables.length > MAX_TABLES) throw new DeployError("InvalidSchema", `Schemas can have at most ${MAX_TABLES} tables`);
  for (const table of schema.tables) {
    checkTableName(table.tableName);
    checkDocumentType(table, schema);
    checkIndexes(table, schema);
  }
}

function checkTableName(name: string): void {
  if (name.startsWith("_")) {
    throw new DeployError("InvalidSchema", `Table name "${name}" starts with an underscore, which is reserved for system tables.`);
  }
  if (!/^[a-zA-Z][a-zA-Z0-9_]{0,63}$/.test(name)) {
    throw new DeployError("InvalidSchema", `Table name "${name}" is not a valid identifier: it must start with a letter and can only contain letters, digits and underscores.`);
  }
}

function checkDocumentType(table: TableJson, schema: SchemaJson): void {
  walkValidator(table.documentType, (validator) => {
    if (validator.type === "id") checkReference(table, String(validator["tableName"]), schema);
    if (validator.type === "object") for (const name of validatorFields(validator).keys()) checkFieldName(table, name);
  });
}

function checkReference(table: TableJson, target: string, schema: SchemaJson): void {
  if (!schema.schemaValidation || target.startsWith("_")) return;
  if (schema.tables.some((candidate) => candidate.tableName === target)) return;
  throw new DeployError("SchemaDefinitionError", `In table "${table.tableName}" a validator references the table "${target}", which is not defined in the schema.`);
}

function checkFieldName(table: TableJson, name: string): void {
  const complain = (reason: string): never => {
    throw new DeployError("InvalidSchema", `In table "${table.tableName}" the field name "${name}" ${reason}`);
  };
  if (name.startsWith("$")) complain("starts with '$', which is reserved.");
  if (name.startsWith("_") && name !== "_id" && name !== "_creationTime") complain("starts with an underscore, which is reserved for system fields like '_id'.");
  if (!/^[\x20-\x7e]+$/.test(name)) complain("can only contain non-control ASCII characters.");
}
