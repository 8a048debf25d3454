/** Tables, indexes and validators that are refused. */

import type { Row } from "../harness.ts";
import { TABLE, schemaRow, numbered, fields, names } from "../schema_row.ts";

const PARSER = "get-convex/convex-backend crates/common/src/schemas/json.rs";
const INDEX_ERRORS = "get-convex/convex-backend crates/common/src/bootstrap_model/index/index_validation_error.rs";
const REFERENCES = "get-convex/convex-backend crates/common/src/schemas/mod.rs";

const refused: readonly Row[] = [
  {
    id: "schema/no-default-export",
    rule: "schema.ts has a default export.",
    citation: REFERENCES,
    files: { "convex/schema.ts": "export const x = 1;" },
    expected: {
      rejects: "Hit an error while evaluating your schema:\nSchema file missing default export.",
      code: "MissingSchemaExportError",
    },
  },
  {
    id: "schema/wrong-export",
    rule: "The default export of schema.ts is a schema.",
    citation: REFERENCES,
    files: { "convex/schema.ts": "export default { a: 1 };" },
    expected: { rejects: "Default export from schema file isn't a Convex schema.", code: "InvalidSchemaExport" },
  },
  {
    id: "schema/throws",
    rule: "A schema that throws is refused with the place where it threw.",
    citation: "get-convex/convex-backend crates/isolate/src/environment/schema.rs",
    files: { "convex/schema.ts": "export default null;\nthrow new Error('no schema today');" },
    expected: {
      rejects: /Hit an error while evaluating your schema:\nUncaught Error: no schema today\n.*schema\.ts:2/s,
    },
  },
  schemaRow("table-name-digit", "Table names start with a letter.", INDEX_ERRORS, '"1t": defineTable({})', {
    rejects:
      'Invalid table name: "1t". Identifiers must start with a letter and can only contain letters, digits, and underscores.',
    code: "InvalidTableName",
  }),
  schemaRow("table-name-dash", "Table names have no dashes.", INDEX_ERRORS, '"my-table": defineTable({})', {
    rejects: 'Invalid table name: "my-table"',
    code: "InvalidTableName",
  }),
  schemaRow(
    "table-name-reserved",
    "Table names do not start with an underscore.",
    INDEX_ERRORS,
    "_t: defineTable({})",
    { rejects: "_t is a reserved table name.", code: "TableNameReserved" },
  ),
  schemaRow(
    "table-name-long",
    "Table names have at most 64 characters.",
    "get-convex/convex-backend crates/sync_types/src/identifier.rs",
    `${"t".repeat(65)}: defineTable({})`,
    { rejects: "Invalid table name", code: "InvalidTableName" },
  ),
  schemaRow(
    "top-level-type",
    "The documents of a table are objects.",
    REFERENCES,
    "t: defineTable(v.string() as any)",
    {
      rejects:
        "The document validator in a schema must be an object, a union of objects, or `v.any()`. Found v.string().",
      code: "InvalidTopLevelTypeInSchemaError",
    },
  ),
  schemaRow(
    "field-name-space",
    "Declared field names are identifiers.",
    "get-convex/convex-backend crates/value/src/field_name.rs",
    't: defineTable({ "my field": v.string() })',
    {
      rejects:
        "Identifier my field has invalid character ' ': Identifiers can only contain alphanumeric characters or underscores",
    },
  ),
  schemaRow(
    "record-literal-keys",
    "Records have no literal keys.",
    PARSER,
    't: defineTable({ r: v.record(v.union(v.literal("a"), v.literal("b")) as any, v.number()) })',
    { rejects: "Invalid validator for key `r`: Records cannot have string literal keys", code: "InvalidRecordType" },
  ),
  schemaRow(
    "record-number-keys",
    "The keys of a record are strings.",
    PARSER,
    "t: defineTable({ r: v.record(v.number() as any, v.number()) })",
    {
      rejects: "Records can only have string keys. Your validator contains a record with key typed as `v.float64()`",
      code: "InvalidRecordType",
    },
  ),
  schemaRow(
    "index-unknown-field",
    "The fields of an index exist.",
    REFERENCES,
    `${TABLE}.index("by_x", ["x" as any])`,
    {
      rejects: 'In table "t" the index "by_x" is invalid because it references the field x that does not exist.',
      code: "SchemaDefinitionError",
    },
  ),
  schemaRow(
    "index-unknown-nested-field",
    "Nested fields of an index exist.",
    REFERENCES,
    `${TABLE}.index("by_x", ["o.nope" as any])`,
    { rejects: "references the field o.nope that does not exist", code: "SchemaDefinitionError" },
  ),
  schemaRow(
    "index-through-array",
    "An index does not reach into arrays.",
    REFERENCES,
    `${TABLE}.index("by_x", ["list.x" as any])`,
    { rejects: "references the field list.x that does not exist", code: "SchemaDefinitionError" },
  ),
  schemaRow(
    "index-creation-time",
    "An index does not name `_creationTime`.",
    INDEX_ERRORS,
    `${TABLE}.index("by_x", ["a", "_creationTime"])`,
    {
      rejects: "`_creationTime` is automatically added to the end of each index.",
      code: "IndexFieldsContainCreationTime",
    },
  ),
  schemaRow("index-id", "An index does not name `_id`.", INDEX_ERRORS, `${TABLE}.index("by_x", ["_id" as any])`, {
    rejects: "`_id` is not a valid index field. To load documents by ID, use `db.get(id)`.",
    code: "IndexFieldsContainId",
  }),
  schemaRow(
    "index-empty",
    "An index has at least one field.",
    INDEX_ERRORS,
    't: (defineTable({ a: v.string() }) as any).index("by_x", [])',
    { rejects: 'In table "t" index "by_x" must have at least one field.', code: "EmptyIndex" },
  ),
  schemaRow("index-field-twice", "The fields of an index differ.", INDEX_ERRORS, `${TABLE}.index("by_x", ["a", "a"])`, {
    rejects: 'In table "t": In index "by_x": Duplicate field a. Index fields must be unique within an index.',
    code: "FieldsNotUniqueWithinIndex",
  }),
  schemaRow(
    "index-too-many-fields",
    "An index has at most 16 fields, `_creationTime` included.",
    INDEX_ERRORS,
    `t: defineTable(${fields(17)}).index("by_all", ${names(17)} as any)`,
    { rejects: "Indexes may have up to 16 fields.", code: "IndexTooManyFields" },
  ),
  schemaRow(
    "too-many-indexes",
    "A table has at most 64 indexes.",
    REFERENCES,
    `t: defineTable(${fields(65)})${numbered(65, (at) => `.index("by_${at}", ["f${at}"])`)}`,
    { rejects: 'Table "t" cannot have more than 64 indexes.', code: "TooManyIndexes" },
  ),
  schemaRow(
    "index-name-reserved",
    "An index is not named by_id or by_creation_time.",
    INDEX_ERRORS,
    `${TABLE}.index("by_id" as any, ["a"])`,
    { rejects: 'In table "t" cannot name an index "by_id" because the name is reserved.', code: "IndexNameReserved" },
  ),
  schemaRow(
    "index-name-underscore",
    "Index names do not start with an underscore.",
    INDEX_ERRORS,
    `${TABLE}.index("_mine" as any, ["a"])`,
    { rejects: "Indexes may not start with an underscore", code: "IndexNameReserved" },
  ),
  schemaRow("index-name-invalid", "Index names are identifiers.", INDEX_ERRORS, `${TABLE}.index("by-a", ["a"])`, {
    rejects:
      'Invalid index name: "by-a". Identifiers must be 64 characters or less, start with a letter, and only contain letters, digits, underscores.',
    code: "InvalidIndexName",
  }),
  schemaRow(
    "index-names-twice",
    "Index names of a table differ, across kinds.",
    INDEX_ERRORS,
    `${TABLE}.index("x", ["a"]).searchIndex("x", { searchField: "a" })`,
    { rejects: 'Table "t" has two or more definitions of index "x".', code: "IndexNamesNotUnique" },
  ),
  schemaRow(
    "index-not-unique",
    "Two indexes of a table have different fields.",
    INDEX_ERRORS,
    `${TABLE}.index("by_a", ["a"]).index("by_a_again", ["a"])`,
    {
      rejects:
        'In table "t" index "by_a_again" and index "by_a" have the same fields. Indexes must be unique within a table.',
      code: "IndexNotUnique",
    },
  ),
  schemaRow(
    "search-twice",
    "Two search indexes of a table search different fields or have different filter fields.",
    PARSER,
    `${TABLE}.searchIndex("s1", { searchField: "a" }).searchIndex("s2", { searchField: "a" })`,
    {
      rejects:
        'In table "t" search index "s2" and search index "s1" have the same `searchField`. Search index fields must be unique within a table.',
      code: "SearchIndexFieldNotUnique",
    },
  ),
  schemaRow(
    "search-twice-filters",
    "The order of filter fields does not matter, nor how often one is named, nor whether an index is staged.",
    PARSER,
    `${TABLE}.searchIndex("s1", { searchField: "a", filterFields: ["b", "o.inner"] }).searchIndex("s2", { searchField: "a", filterFields: ["o.inner", "b", "b"], staged: true })`,
    {
      rejects: 'In table "t" search index "s2" and search index "s1" have the same `searchField`.',
      code: "SearchIndexFieldNotUnique",
    },
  ),
  schemaRow(
    "vector-twice",
    "Two vector indexes of a table have different fields or dimensions; filter fields do not count.",
    PARSER,
    `${TABLE}.vectorIndex("v1", { vectorField: "vec", dimensions: 2 }).vectorIndex("v2", { vectorField: "vec", dimensions: 2, filterFields: ["a"] })`,
    {
      rejects: 'In table "t" vector index "v2" and vector index "v1" have the same `vectorField`.',
      code: "VectorIndexFieldNotUnique",
    },
  ),
  schemaRow(
    "search-unknown-field",
    "The search field exists.",
    REFERENCES,
    `${TABLE}.searchIndex("s", { searchField: "nope" as any })`,
    { rejects: 'the index "s" is invalid because it references the field nope', code: "SchemaDefinitionError" },
  ),
  schemaRow(
    "search-unknown-filter-field",
    "Filter fields of a search index exist.",
    REFERENCES,
    `${TABLE}.searchIndex("s", { searchField: "a", filterFields: ["nope" as any] })`,
    { rejects: "references the field nope", code: "SchemaDefinitionError" },
  ),
  schemaRow(
    "too-many-filter-fields",
    "A search index has at most 16 filter fields.",
    INDEX_ERRORS,
    `t: defineTable(${fields(18)}).searchIndex("s", { searchField: "f0", filterFields: ${names(17)} as any })`,
    { rejects: "Search indexes may have up to 16 filter fields.", code: "IndexTooManyFilterFields" },
  ),
  schemaRow(
    "vector-one-dimension",
    "Vectors have at least 2 dimensions.",
    "get-convex/convex-backend crates/common/src/bootstrap_model/index/vector_index/dimensions.rs",
    `${TABLE}.vectorIndex("v", { vectorField: "vec", dimensions: 1 })`,
    { rejects: "Dimensions 1 must be between 2 and 4096.", code: "InvalidVectorDimensionError" },
  ),
  schemaRow(
    "vector-too-many-dimensions",
    "Vectors have at most 4096 dimensions.",
    "get-convex/convex-backend crates/common/src/bootstrap_model/index/vector_index/dimensions.rs",
    `${TABLE}.vectorIndex("v", { vectorField: "vec", dimensions: 4097 })`,
    { rejects: "Dimensions 4097 must be between 2 and 4096.", code: "InvalidVectorDimensionError" },
  ),
  schemaRow(
    "vector-of-strings",
    "The field of a vector index holds arrays of numbers.",
    REFERENCES,
    `${TABLE}.vectorIndex("v", { vectorField: "list", dimensions: 2 })`,
    {
      rejects: "references the field list that is neither an array of float64 or optional array of float64.",
      code: "SchemaDefinitionError",
    },
  ),
];

export const rows: readonly Row[] = [...refused];
