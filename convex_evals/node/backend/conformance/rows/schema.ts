/** Tables, indexes and validators that are accepted. */

import { schemaFile, type Row } from "../harness.ts";
import { TABLE, schemaRow, numbered, fields, names } from "../schema_row.ts";

const PARSER = "get-convex/convex-backend crates/common/src/schemas/json.rs";
const INDEX_ERRORS = "get-convex/convex-backend crates/common/src/bootstrap_model/index/index_validation_error.rs";
const REFERENCES = "get-convex/convex-backend crates/common/src/schemas/mod.rs";

const accepted: readonly Row[] = [
  schemaRow(
    "nested-index",
    "Indexes may name nested fields, optional ones and fields of union members.",
    "https://docs.convex.dev/database/reading-data/indexes/",
    't: defineTable(v.union(v.object({ k: v.literal("a"), x: v.object({ y: v.optional(v.number()) }) }), v.object({ k: v.literal("b") }))).index("by_k", ["k"]).index("by_y", ["x.y"])',
    { accepts: true },
  ),
  schemaRow(
    "unvalidated",
    "With `schemaValidation: false` an index may name a field that no document has.",
    REFERENCES,
    't: defineTable({ a: v.id("nowhere") }).index("by_b", ["b" as any])',
    { accepts: true },
    "{ schemaValidation: false }",
  ),
  schemaRow(
    "id-of-undeclared-table",
    "`v.id` may name a table that the schema does not declare.",
    PARSER,
    't: defineTable({ u: v.array(v.id("users")) })',
    { accepts: true },
  ),
  schemaRow(
    "id-of-system-table",
    "`v.id` may name a system table.",
    "https://docs.convex.dev/database/advanced/system-tables",
    't: defineTable({ file: v.id("_storage"), job: v.id("_scheduled_functions") })',
    { accepts: true },
  ),
  schemaRow(
    "circular-references",
    "Tables may refer to each other.",
    "https://docs.convex.dev/database/schemas#circular-references",
    'a: defineTable({ b: v.id("b") }), b: defineTable({ a: v.union(v.id("a"), v.null()) })',
    { accepts: true },
  ),
  schemaRow(
    "search-and-vector",
    "A table may have a search and a vector index with filter fields.",
    "https://docs.convex.dev/search/vector-search#defining-vector-indexes",
    `${TABLE}.searchIndex("s", { searchField: "a", filterFields: ["o.inner"] }).vectorIndex("v", { vectorField: "vec", dimensions: 2, filterFields: ["a"] })`,
    { accepts: true },
  ),
  schemaRow(
    "search-same-field",
    "Two search indexes may search one field if their filter fields differ.",
    PARSER,
    `${TABLE}.searchIndex("s1", { searchField: "a" }).searchIndex("s2", { searchField: "a", filterFields: ["b"] }).searchIndex("s3", { searchField: "a", filterFields: ["b", "o.inner"], staged: true })`,
    { accepts: true },
  ),
  schemaRow(
    "vector-same-field",
    "Two vector indexes may have one field if their dimensions differ.",
    PARSER,
    `${TABLE}.vectorIndex("v1", { vectorField: "vec", dimensions: 2 }).vectorIndex("v2", { vectorField: "vec", dimensions: 3 })`,
    { accepts: true },
  ),
  schemaRow(
    "max-dimensions",
    "A vector index may have 4096 dimensions.",
    "get-convex/convex-backend crates/common/src/bootstrap_model/index/vector_index/dimensions.rs",
    `${TABLE}.vectorIndex("v", { vectorField: "vec", dimensions: 4096 })`,
    { accepts: true },
  ),
  schemaRow(
    "optional-vector",
    "A vector field may be optional, or a member of a union.",
    REFERENCES,
    't: defineTable({ vec: v.optional(v.union(v.null(), v.array(v.float64()))) }).vectorIndex("v", { vectorField: "vec", dimensions: 8 })',
    { accepts: true },
  ),
  schemaRow(
    "max-indexes",
    "A table may have 64 indexes.",
    REFERENCES,
    `t: defineTable(${fields(64)})${numbered(64, (at) => `.index("by_${at}", ["f${at}"])`)}`,
    { accepts: true },
  ),
  schemaRow(
    "max-index-fields",
    "An index may have 15 fields and the `_creationTime` that is added.",
    INDEX_ERRORS,
    `t: defineTable(${fields(15)}).index("by_all", ${names(15)} as any)`,
    { accepts: true },
  ),
  schemaRow(
    "prefix-index",
    "An index may be a prefix of another.",
    PARSER,
    `${TABLE}.index("by_a", ["a"]).index("by_a_b", ["a", "b"])`,
    { accepts: true },
  ),
  schemaRow(
    "staged-index",
    "An index may be staged.",
    "https://docs.convex.dev/database/reading-data/indexes/#staged-indexes",
    `${TABLE}.index("by_a", { fields: ["a"], staged: true })`,
    { accepts: true },
  ),
  {
    id: "schema/index-fields",
    rule: "Every index of a stored schema ends with `_creationTime`, a staged one too.",
    citation: PARSER,
    files: schemaFile(`t: defineTable(v.any()).index("by_a", ["a"]).index("later", { fields: ["b"], staged: true })`),
    steps: [{ call: "query", path: "_system/frontend/getSchemas", as: "admin" }],
    expected: {
      value: {
        active:
          '{"tables":[{"tableName":"t","indexes":[{"indexDescriptor":"by_a","fields":["a","_creationTime"]}],"stagedDbIndexes":[{"indexDescriptor":"later","fields":["b","_creationTime"]}],"searchIndexes":[],"stagedSearchIndexes":[],"vectorIndexes":[],"stagedVectorIndexes":[],"documentType":{"type":"any"}}],"schemaValidation":true}',
      },
    },
  },
  schemaRow(
    "any-table",
    "The documents of a table may be `v.any()`.",
    PARSER,
    't: defineTable(v.any()).index("by_x", ["x"])',
    { accepts: true },
  ),
  schemaRow(
    "record",
    "A field may be a record with string or id keys.",
    PARSER,
    't: defineTable({ r: v.record(v.id("t"), v.array(v.number())) })',
    { accepts: true },
  ),
  schemaRow(
    "system-field-in-validator",
    "Validators for system fields are dropped from a schema.",
    PARSER,
    "t: defineTable({ a: v.string(), _creationTime: v.string(), _secret: v.string() } as any)",
    { accepts: true },
  ),
  schemaRow(
    "nested-underscore",
    "A nested field may start with an underscore.",
    PARSER,
    "t: defineTable({ o: v.object({ _x: v.number() }) })",
    { accepts: true },
  ),
];

export const rows: readonly Row[] = [...accepted];
