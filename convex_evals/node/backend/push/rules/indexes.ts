/** get-convex/convex-backend crates/common/src/schemas/json.rs and bootstrap_model/index */

import { DeployError } from "../../errors.ts";
import type { IndexJson, SchemaJson, SearchIndexJson, TableJson, VectorIndexJson } from "../../app/runtime_types.ts";
import { hasField } from "./validators.ts";

const MAX_INDEXES = 32;
const MAX_INDEX_FIELDS = 16;
const MAX_FILTER_FIELDS = 16;
const DIMENSIONS = { min: 2, max: 4096 };
const RESERVED_NAMES = new Set(["by_id", "by_creation_time"]);

interface IndexContext {
  readonly table: TableJson;
  readonly fieldsAreKnown: boolean;
}

/** Throws the first `DeployError` of one table's indexes. */
export function checkIndexes(table: TableJson, schema: SchemaJson): void {
  const context: IndexContext = { table, fieldsAreKnown: schema.schemaValidation };
  const database = [...table.indexes, ...(table.stagedDbIndexes ?? [])];
  const search = [...table.searchIndexes, ...(table.stagedSearchIndexes ?? [])];
  const vector = [...table.vectorIndexes, ...(table.stagedVectorIndexes ?? [])];
  checkNames(table.tableName, [...database, ...search, ...vector].map((index) => index.indexDescriptor));
  for (const index of database) checkDatabaseIndex(context, index);
  for (const index of search) checkSearchIndex(context, index);
  for (const index of vector) checkVectorIndex(context, index);
}

function checkNames(table: string, names: readonly string[]): void {
  const seen = new Set<string>();
  for (const name of names) {
    if (RESERVED_NAMES.has(name) || name.startsWith("_")) {
      throw new DeployError("IndexNameReserved", `In table "${table}" cannot name an index "${name}" because the name is reserved. Indexes may not start with an underscore or be named "by_id" or "by_creation_time".`);
    }
    if (!/^[a-zA-Z][a-zA-Z0-9_]{0,63}$/.test(name)) {
      throw new DeployError("InvalidIndexName", `In table "${table}" "${name}" is not a valid index name: it must start with a letter and can only contain letters, digits and underscores.`);
    }
    if (seen.has(name)) throw new DeployError("IndexNamesNotUnique", `Table "${table}" has two or more definitions of index "${name}".`);
    seen.add(name);
  }
  if (seen.size > MAX_INDEXES) throw new DeployError("TooManyIndexes", `Table "${table}" has ${seen.size} indexes, more than the maximum of ${MAX_INDEXES}.`);
}

function checkDatabaseIndex(context: IndexContext, index: IndexJson): void {
  const where = `In table "${context.table.tableName}" index "${index.indexDescriptor}"`;
  if (index.fields.length === 0) throw new DeployError("IndexWithNoFields", `${where} must have at least one field.`);
  if (index.fields.length > MAX_INDEX_FIELDS) throw new DeployError("TooManyFieldsInIndex", `${where} has ${index.fields.length} fields, more than the maximum of ${MAX_INDEX_FIELDS}.`);
  if (new Set(index.fields).size < index.fields.length) throw new DeployError("IndexFieldsNotUnique", `${where} has duplicate fields. Index fields must be unique within an index.`);
  for (const field of index.fields) {
    if (field === "_creationTime") {
      throw new DeployError("IndexFieldsContainCreationTime", `${where} cannot include the field "_creationTime": it is automatically added to the end of each index. If you want an index on just \`_creationTime\`, use the automatically added "by_creation_time" index.`);
    }
    if (field.startsWith("_")) throw new DeployError("IndexFieldNameReserved", `${where} cannot include the field "${field}": field names that start with an underscore are reserved.`);
    checkField(context, index.indexDescriptor, field, "index");
  }
}

function checkSearchIndex(context: IndexContext, index: SearchIndexJson): void {
  checkFilterFields(context, index.indexDescriptor, index.filterFields);
  for (const field of [index.searchField, ...index.filterFields]) checkField(context, index.indexDescriptor, field, "search index");
}

function checkVectorIndex(context: IndexContext, index: VectorIndexJson): void {
  const { dimensions, indexDescriptor } = index;
  if (!Number.isInteger(dimensions) || dimensions < DIMENSIONS.min || dimensions > DIMENSIONS.max) {
    throw new DeployError("InvalidVectorDimension", `In table "${context.table.tableName}" the vector index "${indexDescriptor}" has ${dimensions} dimensions. Dimensions must be between ${DIMENSIONS.min} and ${DIMENSIONS.max}.`);
  }
  checkFilterFields(context, indexDescriptor, index.filterFields);
  for (const field of [index.vectorField, ...index.filterFields]) checkField(context, indexDescriptor, field, "vector index");
}

function checkFilterFields(context: IndexContext, name: string, fields: readonly string[]): void {
  if (fields.length > MAX_FILTER_FIELDS) {
    throw new DeployError("TooManyFilterFieldsInIndex", `In table "${context.table.tableName}" the index "${name}" has ${fields.length} filter fields, more than the maximum of ${MAX_FILTER_FIELDS}.`);
  }
}

function checkField(context: IndexContext, index: string, field: string, kind: string): void {
  if (field === "" || field.split(".").some((part) => part === "")) {
    throw new DeployError("InvalidIndexField", `In table "${context.table.tableName}" the ${kind} "${index}" has the invalid field path "${field}".`);
  }
  const system = field === "_id" || field === "_creationTime";
  if (!context.fieldsAreKnown || system || hasField(context.table.documentType, field.split("."))) return;
  throw new DeployError("SchemaDefinitionError", `In table "${context.table.tableName}" the ${kind} "${index}" includes the field "${field}" which is not in the document type.`);
}
