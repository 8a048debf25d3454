/**
 * Indexes of a schema: get-convex/convex-backend crates/common/src/schemas/json.rs,
 * crates/common/src/bootstrap_model/index/index_validation_error.rs
 */

import { DeployError } from "../../errors.ts";
import type { IndexJson, SearchIndexJson, TableJson, VectorIndexJson } from "../../runtime_types.ts";
import { fieldPathProblem, identifierProblem } from "../../identifiers.ts";
import { canHoldVector, hasField } from "./validators.ts";

// The documentation says 32; the server's limit is 64.
const MAX_INDEXES = 64;
// Including the `_creationTime` that is appended to every index.
const MAX_INDEX_FIELDS = 16;
const MAX_FILTER_FIELDS = 16;
const DIMENSIONS = { min: 2, max: 4096 };

/** Throws the first `DeployError` of one table's indexes. */
export function checkIndexes(table: TableJson): void {
  const database = [...table.indexes, ...(table.stagedDbIndexes ?? [])];
  const search = [...table.searchIndexes, ...(table.stagedSearchIndexes ?? [])];
  const vector = [...table.vectorIndexes, ...(table.stagedVectorIndexes ?? [])];
  if (database.length + search.length + vector.length > MAX_INDEXES) {
    throw new DeployError("TooManyIndexes", `Table "${table.tableName}" cannot have more than ${MAX_INDEXES} indexes.`);
  }
  for (const index of database) inTable(table, () => checkDatabaseIndex(index));
  for (const index of database) checkNotEmpty(table, index);
  checkDistinct(
    database,
    (index) => index.fields.join(),
    (a, b) => indexNotUnique(table, a, b),
  );
  for (const index of search) inTable(table, () => checkSearchIndex(index));
  checkDistinct(
    search,
    ({ searchField, filterFields }) => [searchField, ...[...new Set(filterFields)].sort()].join(),
    (a, b) => searchFieldNotUnique(table, a, b),
  );
  for (const index of vector) inTable(table, () => checkVectorIndex(index));
  checkDistinct(
    vector,
    (index) => `${index.vectorField},${index.dimensions}`,
    (a, b) => vectorFieldNotUnique(table, a, b),
  );
  checkNames(
    table,
    [...database, ...search, ...vector].map((index) => index.indexDescriptor),
  );
  for (const index of database) checkReservedFields(index);
}

function inTable(table: TableJson, check: () => void): void {
  try {
    check();
  } catch (error) {
    if (!(error instanceof DeployError)) throw error;
    throw new DeployError(error.code, `In table "${table.tableName}": ${error.message}`);
  }
}

function checkDatabaseIndex({ indexDescriptor, fields }: IndexJson): void {
  checkName(indexDescriptor);
  for (const field of fields) checkFieldPath(indexDescriptor, field);
  const complain = (code: string, message: string): never => {
    throw new DeployError(code, `In index "${indexDescriptor}": ${message}`);
  };
  if (fields.length >= MAX_INDEX_FIELDS) {
    complain("IndexTooManyFields", `Indexes may have up to ${MAX_INDEX_FIELDS} fields.`);
  }
  if (fields.includes("_id")) {
    complain("IndexFieldsContainId", "`_id` is not a valid index field. To load documents by ID, use `db.get(id)`.");
  }
  const twice = fields.find((field, at) => fields.indexOf(field) < at);
  if (twice !== undefined) {
    complain("FieldsNotUniqueWithinIndex", `Duplicate field ${twice}. Index fields must be unique within an index.`);
  }
}

function checkNotEmpty(table: TableJson, index: IndexJson): void {
  if (index.fields.length > 0) return;
  throw new DeployError(
    "EmptyIndex",
    `In table "${table.tableName}" index "${index.indexDescriptor}" must have at least one field.`,
  );
}

// get-convex/convex-backend crates/application/src/lib.rs (_validate_user_defined_index_fields)
function checkReservedFields({ fields }: IndexJson): void {
  if (fields.includes("_creationTime")) {
    throw new DeployError(
      "IndexFieldsContainCreationTime",
      "`_creationTime` is automatically added to the end of each index. It should not be added explicitly in the index definition. See https://docs.convex.dev/using/indexes for more details.",
    );
  }
  if (fields.some((field) => field.split(".").some((part) => part.startsWith("_")))) {
    throw new DeployError("IndexFieldNameReserved", "Reserved fields (starting with `_`) are not allowed in indexes.");
  }
}

function checkSearchIndex(index: SearchIndexJson): void {
  checkName(index.indexDescriptor);
  checkFieldPath(index.indexDescriptor, index.searchField);
  checkFilterFields(index);
}

function checkVectorIndex(index: VectorIndexJson): void {
  checkName(index.indexDescriptor);
  checkFieldPath(index.indexDescriptor, index.vectorField);
  const { dimensions } = index;
  if (!Number.isInteger(dimensions) || dimensions < DIMENSIONS.min || dimensions > DIMENSIONS.max) {
    throw new DeployError(
      "InvalidVectorDimensionError",
      `Dimensions ${dimensions} must be between ${DIMENSIONS.min} and ${DIMENSIONS.max}.`,
    );
  }
  checkFilterFields(index);
}

function checkFilterFields({ indexDescriptor, filterFields }: SearchIndexJson | VectorIndexJson): void {
  for (const field of filterFields) checkFieldPath(indexDescriptor, field);
  if (new Set(filterFields).size > MAX_FILTER_FIELDS) {
    throw new DeployError(
      "IndexTooManyFilterFields",
      `Search indexes may have up to ${MAX_FILTER_FIELDS} filter fields.`,
    );
  }
}

function checkFieldPath(index: string, field: string): void {
  if (fieldPathProblem(field) !== null) {
    throw new DeployError("InvalidIndexField", `In index "${index}": Invalid index field: "${field}"`);
  }
}

function checkName(name: string): void {
  if (identifierProblem(name) === null) return;
  throw new DeployError(
    "InvalidIndexName",
    `Invalid index name: "${name}". Identifiers must be 64 characters or less, start with a letter, and only contain letters, digits, underscores.`,
  );
}

type NotUnique = (first: string, second: string) => DeployError;

function checkDistinct<T extends { indexDescriptor: string }>(
  indexes: readonly T[],
  key: (index: T) => string,
  error: NotUnique,
): void {
  const seen = new Map<string, string>();
  for (const index of [...indexes].sort((a, b) => (a.indexDescriptor < b.indexDescriptor ? -1 : 1))) {
    const other = seen.get(key(index));
    // Two definitions of one name are reported as such.
    if (other !== undefined && other !== index.indexDescriptor) throw error(index.indexDescriptor, other);
    seen.set(key(index), index.indexDescriptor);
  }
}

function indexNotUnique(table: TableJson, first: string, second: string): DeployError {
  return new DeployError(
    "IndexNotUnique",
    `In table "${table.tableName}" index "${first}" and index "${second}" have the same fields. Indexes must be unique within a table.`,
  );
}

const COMBINE = "You should combine the\n             indexes with the same";

function searchFieldNotUnique(table: TableJson, first: string, second: string): DeployError {
  return new DeployError(
    "SearchIndexFieldNotUnique",
    `In table "${table.tableName}" search index "${first}" and search index "${second}" have the same \`searchField\`. Search index fields must be unique within a table. ${COMBINE} \`searchField\` into one index containing all \`filterField\`s and then use different subsets of the \`filterField\`s at query time.`,
  );
}

function vectorFieldNotUnique(table: TableJson, first: string, second: string): DeployError {
  return new DeployError(
    "VectorIndexFieldNotUnique",
    `In table "${table.tableName}" vector index "${first}" and vector index "${second}" have the same \`vectorField\`. Vector index fields must be unique within a table. ${COMBINE} \`vectorField\` into one index containing all \`filterField\`s and then use different subsets of the \`filterField\`s at query time.`,
  );
}

function checkNames(table: TableJson, names: readonly string[]): void {
  const seen = new Set<string>();
  for (const name of names) {
    if (name === "by_id" || name === "by_creation_time" || (name.startsWith("_") && !name.startsWith("_fivetran"))) {
      throw new DeployError(
        "IndexNameReserved",
        `In table "${table.tableName}" cannot name an index "${name}" because the name is reserved. Indexes may not start with an underscore or be named "by_id" or "by_creation_time".`,
      );
    }
    if (seen.has(name)) {
      throw new DeployError(
        "IndexNamesNotUnique",
        `Table "${table.tableName}" has two or more definitions of index "${name}".`,
      );
    }
    seen.add(name);
  }
}

/** Throws when an index names a field that no document of the table can have. */
export function checkIndexReferences(table: TableJson): void {
  for (const [index, field] of indexedFields(table)) {
    const path = field.split(".");
    if ((path.length === 1 && field.startsWith("_")) || hasField(table.documentType, path)) continue;
    throw new DeployError(
      "SchemaDefinitionError",
      `In table "${table.tableName}" the index "${index}" is invalid because it references the field ${field} that does not exist.`,
    );
  }
  for (const { indexDescriptor, vectorField } of [...table.vectorIndexes, ...(table.stagedVectorIndexes ?? [])]) {
    if (canHoldVector(table.documentType, vectorField.split("."))) continue;
    throw new DeployError(
      "SchemaDefinitionError",
      `In table "${table.tableName}" the vector index "${indexDescriptor}" is invalid because it references the field ${vectorField} that is neither an array of float64 or optional array of float64.`,
    );
  }
}

// Filter fields of vector indexes are not looked at.
function* indexedFields(table: TableJson): Generator<readonly [string, string]> {
  for (const { indexDescriptor, fields } of [...table.indexes, ...(table.stagedDbIndexes ?? [])]) {
    for (const field of fields) yield [indexDescriptor, field];
  }
  const search = [...table.searchIndexes, ...(table.stagedSearchIndexes ?? [])];
  for (const { indexDescriptor, searchField } of search) yield [indexDescriptor, searchField];
  for (const { indexDescriptor, filterFields } of search) {
    for (const field of filterFields) yield [indexDescriptor, field];
  }
  for (const { indexDescriptor, vectorField } of [...table.vectorIndexes, ...(table.stagedVectorIndexes ?? [])]) {
    yield [indexDescriptor, vectorField];
  }
}
