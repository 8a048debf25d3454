/** What the database stores: documents, values, ids, limits of a transaction. */

import { moduleFile, schemaFile, type Expected, type Row, type Step } from "../harness.ts";

const LIMITS = "https://docs.convex.dev/production/state/limits";
const DOCUMENT = "get-convex/convex-backend crates/common/src/document.rs";
const SIZE = "get-convex/convex-backend crates/value/src/size.rs";
const VALUES = "npm convex/src/values/value.ts";
const SYSCALLS = "get-convex/convex-backend crates/isolate/src/environment/udf/async_syscall.rs";
const IDS = "get-convex/convex-backend crates/isolate/src/environment/helpers/mod.rs";
const TRANSACTION = "get-convex/convex-backend crates/database/src/transaction.rs";
const READS = "get-convex/convex-backend crates/database/src/reads.rs";
const WRITES = "get-convex/convex-backend crates/database/src/writes.rs";
const TYPES = "https://docs.convex.dev/database/types";

const SCHEMA = schemaFile(
  't: defineTable(v.any()), other: defineTable({ n: v.number() }), strict: defineTable({ a: v.string(), n: v.optional(v.number()), ref: v.optional(v.id("other")) })',
);

/** A row whose function body has `ctx` of a mutation; what it returns is the value. */
function mutationRow(
  id: string,
  rule: string,
  citation: string,
  body: string,
  expected: Expected,
  args?: Record<string, unknown>,
): Row {
  const files = {
    ...SCHEMA,
    ...moduleFile(
      "m",
      `export const run = mutation({ args: { x: v.optional(v.any()) }, handler: async (ctx: any, { x }: any) => {\n${body}\n} });`,
    ),
  };
  const step: Step = { call: "mutation", path: "m:run", ...(args ? { args } : {}) };
  return { id: `data/${id}`, rule, citation, files, steps: [step], expected };
}

const nested = (depth: number): string => `let deep: any = 1; for (let i = 0; i < ${depth}; i++) deep = [deep];`;

const limits: readonly Row[] = [
  mutationRow(
    "size",
    "A document has at most 1 MiB.",
    `${LIMITS}#documents`,
    'await ctx.db.insert("t", { a: "x".repeat(1100000) });',
    { rejects: "Value is too large (1.05 MiB > maximum size 1 MiB)" },
  ),
  mutationRow(
    "size-ok",
    "A document of nearly 1 MiB is stored.",
    `${LIMITS}#documents`,
    'const id = await ctx.db.insert("t", { a: "x".repeat(1048000) }); return (await ctx.db.get(id)).a.length;',
    { value: 1048000 },
  ),
  mutationRow(
    "size-patch",
    "A patched document has at most 1 MiB.",
    `${LIMITS}#documents`,
    'const id = await ctx.db.insert("t", { a: "x".repeat(600000) }); await ctx.db.patch(id, { b: "x".repeat(600000) });',
    { rejects: /Value is too large \(1\.14 MiB > maximum size 1 MiB\)/ },
  ),
  mutationRow(
    "array-length",
    "An array has at most 8192 items.",
    `${LIMITS}#documents`,
    'await ctx.db.insert("t", { a: Array(8193).fill(0) });',
    { rejects: "Invalid argument `value` for `db.insert`: Array length is too long (8193 > maximum length 8192)" },
  ),
  mutationRow(
    "array-length-ok",
    "An array of 8192 items is stored.",
    `${LIMITS}#documents`,
    'const id = await ctx.db.insert("t", { a: Array(8192).fill(0) }); return (await ctx.db.get(id)).a.length;',
    { value: 8192 },
  ),
  mutationRow(
    "fields",
    "An object has at most 1024 fields.",
    "get-convex/convex-backend crates/value/src/object.rs",
    'await ctx.db.insert("t", { o: Object.fromEntries(Array.from({ length: 1025 }, (_, i) => ["f" + i, i])) });',
    { rejects: "Object has too many fields (1025 > maximum number 1024)" },
  ),
  mutationRow(
    "fields-ok",
    "An object with 1024 fields is stored.",
    "get-convex/convex-backend crates/value/src/object.rs",
    'await ctx.db.insert("t", { o: Object.fromEntries(Array.from({ length: 1024 }, (_, i) => ["f" + i, i])) }); return true;',
    { value: true },
  ),
  mutationRow(
    "nesting",
    "A document is nested at most 16 levels, itself included.",
    DOCUMENT,
    `${nested(16)} await ctx.db.insert("t", { deep });`,
    { rejects: "isn't a valid document: Document is too nested (nested 17 levels deep > maximum nesting 16)" },
  ),
  mutationRow(
    "nesting-ok",
    "A document nested 16 levels is stored.",
    DOCUMENT,
    `${nested(15)} await ctx.db.insert("t", { deep }); return true;`,
    { value: true },
  ),
  mutationRow(
    "nesting-value",
    "A value is nested at most 64 levels.",
    SIZE,
    `${nested(64)} await ctx.db.replace(await ctx.db.insert("t", {}), { deep });`,
    {
      rejects:
        "Invalid argument `value` for `db.replace`: Value is too nested (nested 65 levels deep > maximum nesting 64)",
    },
  ),
  mutationRow("field-name-dollar", "Field names do not start with $.", VALUES, 'await ctx.db.insert("t", { $a: 1 });', {
    rejects: "Field name $a starts with a '$', which is reserved.",
  }),
  mutationRow(
    "field-name-unicode",
    "Field names are printable ASCII.",
    VALUES,
    'await ctx.db.insert("t", { "ключ": 1 });',
    { rejects: "Field names can only contain non-control ASCII characters" },
  ),
  mutationRow(
    "field-name-spaces",
    "Field names may have spaces and dashes, also when they look like numbers.",
    VALUES,
    'const id = await ctx.db.insert("t", { o: { "a b": 1, "c-d": 2, "3": 3 } }); return (await ctx.db.get(id)).o;',
    { value: { "3": 3, "a b": 1, "c-d": 2 } },
  ),
  mutationRow(
    "field-name-underscore",
    "Top-level fields do not start with an underscore.",
    DOCUMENT,
    'await ctx.db.insert("t", { _secret: 1 });',
    {
      rejects:
        "isn't a valid document: Field '_secret' starts with an underscore, which is only allowed for system fields like '_id'",
    },
  ),
  mutationRow(
    "nested-underscore",
    "Nested fields may start with an underscore.",
    DOCUMENT,
    'const id = await ctx.db.insert("t", { o: { _x: 1 } }); return (await ctx.db.get(id)).o;',
    { value: { _x: 1 } },
  ),
  mutationRow(
    "return-size",
    "A function returns at most 16 MiB.",
    `${LIMITS}#functions`,
    'await ctx.db.insert("t", {}); return "x".repeat(17 << 20);',
    { rejects: "Function m.js:run return value is too large (actual: 17.00 MiB, limit: 16 MiB)" },
  ),
];

const transactions: readonly Row[] = [
  mutationRow(
    "writes",
    "A mutation writes at most 16,000 documents.",
    WRITES,
    'for (let i = 0; i < 16001; i++) await ctx.db.insert("t", {});',
    { rejects: "Too many writes in a single function execution (limit: 16000)" },
  ),
  mutationRow(
    "bytes-written",
    "A mutation writes at most 16 MiB.",
    WRITES,
    'for (let i = 0; i < 17; i++) await ctx.db.insert("t", { a: "x".repeat(1000000) });',
    { rejects: "Too many bytes written in a single function execution (limit: 16777216 bytes)" },
  ),
  mutationRow(
    "reads",
    "A function reads at most 4,096 ranges.",
    READS,
    'for (let i = 0; i < 4097; i++) await ctx.db.query("t").withIndex("by_creation_time", (q: any) => q.gt("_creationTime", i)).first();',
    {
      rejects:
        "Too many reads in a single function execution (limit: 4096). Consider using smaller limits in your queries",
    },
  ),
  {
    id: "data/documents-scanned",
    rule: "Documents that a filter leaves out count as read.",
    citation: READS,
    files: {
      ...SCHEMA,
      ...moduleFile(
        "m",
        'export const fill = mutation({ args: {}, handler: async (ctx) => { for (let i = 0; i < 16; i++) await ctx.db.insert("t", { a: "x".repeat(1000000) }); } });\nexport const more = mutation({ args: {}, handler: async (ctx) => { for (let i = 0; i < 4; i++) await ctx.db.insert("t", { a: "x".repeat(1000000) }); } });\nexport const find = query({ args: {}, handler: async (ctx) => await ctx.db.query("t").filter((q: any) => q.eq(q.field("a"), "y")).collect() });',
      ),
    },
    steps: [
      { call: "mutation", path: "m:fill" },
      { call: "mutation", path: "m:more" },
      { call: "query", path: "m:find" },
    ],
    expected: {
      rejects:
        "Too many bytes read in a single function execution (limit: 16777216 bytes). Consider using smaller limits in your queries, paginating your queries, or using indexed queries with a selective index range expressions.",
    },
  },
  mutationRow(
    "rollback",
    "A mutation that fails leaves nothing behind.",
    "https://docs.convex.dev/functions/mutation-functions#transactions",
    'await ctx.db.insert("t", {}); throw new ConvexError("stop");',
    { rejects: "stop", data: "stop" },
  ),
  mutationRow(
    "own-writes",
    "A mutation sees its own writes.",
    "https://docs.convex.dev/functions/mutation-functions#transactions",
    'await ctx.db.insert("t", { a: 1 }); const id = await ctx.db.insert("t", { a: 2 }); await ctx.db.delete(id); return (await ctx.db.query("t").collect()).map((d: any) => d.a);',
    { value: [1] },
  ),
];

const special: readonly Row[] = [
  mutationRow(
    "values",
    "Every kind of value comes back as it was stored.",
    TYPES,
    'const id = await ctx.db.insert("t", { x }); return (await ctx.db.get(id)).x;',
    { value: [null, true, -0, Infinity, 2n ** 63n - 1n, "é\0", new Uint8Array([0, 255]).buffer, [], {}] },
    { x: [null, true, -0, Infinity, 2n ** 63n - 1n, "é\0", new Uint8Array([0, 255]).buffer, [], {}] },
  ),
  mutationRow(
    "nan",
    "NaN is a number like any other.",
    TYPES,
    'const id = await ctx.db.insert("t", { x: NaN }); return Number.isNaN((await ctx.db.get(id)).x);',
    { value: true },
  ),
  mutationRow("bigint-range", "Integers have 64 bits.", VALUES, 'await ctx.db.insert("t", { x: 2n ** 63n });', {
    rejects: "BigInt 9223372036854775808 does not fit into a 64-bit signed integer.",
  }),
  mutationRow(
    "undefined-field",
    "Fields that are undefined are not stored.",
    TYPES,
    'const id = await ctx.db.insert("t", { a: 1, b: undefined }); return Object.keys(await ctx.db.get(id)).sort();',
    { value: ["_creationTime", "_id", "a"] },
  ),
  mutationRow(
    "undefined-item",
    "Arrays have no undefined items.",
    VALUES,
    'await ctx.db.insert("t", { a: [1, undefined] });',
    { rejects: "undefined is not a valid Convex value (present at path .a[1] in original object" },
  ),
  mutationRow("date", "Dates are no Convex values.", VALUES, 'await ctx.db.insert("t", { at: new Date(0) });', {
    rejects: /Date .* is not a supported Convex type \(present at path \.at/,
  }),
  mutationRow("map", "Maps are no Convex values.", VALUES, 'await ctx.db.insert("t", { m: new Map() });', {
    rejects: /Map\[\] is not a supported Convex type|Map.* is not a supported Convex type/,
  }),
  mutationRow("set", "Sets are no Convex values.", VALUES, 'await ctx.db.insert("t", { m: new Set([1]) });', {
    rejects: /Set.* is not a supported Convex type/,
  }),
  mutationRow(
    "class-instance",
    "Instances of classes are no Convex values.",
    VALUES,
    'class Point { x = 1; } await ctx.db.insert("t", { p: new Point() });',
    { rejects: /Point.* is not a supported Convex type/ },
  ),
  mutationRow("function", "Functions are no Convex values.", VALUES, 'await ctx.db.insert("t", { f: () => 1 });', {
    rejects: /is not a supported Convex type/,
  }),
];

const documents: readonly Row[] = [
  mutationRow(
    "schema-insert",
    "Inserted documents match the schema.",
    "https://docs.convex.dev/database/schemas#schema-validation",
    'await ctx.db.insert("strict", { a: 1 });',
    {
      rejects:
        'Failed to insert or update a document in table "strict" because it does not match the schema: Value does not match validator.\nPath: .a\nValue: 1.0\nValidator: v.string()',
    },
  ),
  mutationRow(
    "schema-patch",
    "Patched documents match the schema.",
    "https://docs.convex.dev/database/schemas#schema-validation",
    'const id = await ctx.db.insert("strict", { a: "x" }); await ctx.db.patch(id, { extra: 1 });',
    {
      rejects:
        'Object contains extra field `extra` that is not in the validator.\n\nObject: {a: "x", extra: 1.0}\nValidator: v.object({a: v.string(), n: v.optional(v.float64()), ref: v.optional(v.id("other"))})',
    },
  ),
  mutationRow(
    "schema-replace",
    "Replaced documents match the schema.",
    "https://docs.convex.dev/database/schemas#schema-validation",
    'const id = await ctx.db.insert("strict", { a: "x" }); await ctx.db.replace(id, { n: 1 });',
    {
      rejects:
        "Object is missing the required field `a`. Consider wrapping the field validator in `v.optional(...)` if this is expected.",
    },
  ),
  mutationRow(
    "schema-id",
    "A field of `v.id` holds an id of that table.",
    "get-convex/convex-backend crates/common/src/schemas/validator.rs",
    'const ref = await ctx.db.insert("t", {}); await ctx.db.insert("strict", { a: "x", ref });',
    {
      rejects:
        /Found ID "\w+" from table `t`, which does not match the table name in validator `v\.id\("other"\)`\.Path: \.ref/,
    },
  ),
  mutationRow(
    "patch-removes",
    "Patching a field with undefined removes it.",
    "https://docs.convex.dev/database/writing-data#updating-existing-documents",
    'const id = await ctx.db.insert("t", { a: 1, b: 2 }); await ctx.db.patch(id, { a: undefined, c: 3 }); const { _id, _creationTime, ...rest } = await ctx.db.get(id); return rest;',
    { value: { b: 2, c: 3 } },
  ),
  mutationRow(
    "patch-shallow",
    "Patching merges the top level only.",
    "https://docs.convex.dev/database/writing-data#updating-existing-documents",
    'const id = await ctx.db.insert("t", { o: { x: 1 } }); await ctx.db.patch(id, { o: { y: 2 } }); return (await ctx.db.get(id)).o;',
    { value: { y: 2 } },
  ),
  mutationRow(
    "replace-whole",
    "Replacing keeps only system fields.",
    "https://docs.convex.dev/database/writing-data#updating-existing-documents",
    'const id = await ctx.db.insert("t", { a: 1 }); const before = await ctx.db.get(id); await ctx.db.replace(id, { ...before, a: undefined, b: 2 }); const after = await ctx.db.get(id); return [after._creationTime === before._creationTime, Object.keys(after).sort()];',
    { value: [true, ["_creationTime", "_id", "b"]] },
  ),
  mutationRow(
    "undeclared-table",
    "Documents may go to tables that the schema does not declare.",
    "https://docs.convex.dev/database/schemas",
    'await ctx.db.insert("extra", { x: 1 }); return (await ctx.db.query("extra").collect()).length;',
    { value: 1 },
  ),
  mutationRow("insert-bad-table", "Table names are identifiers.", SYSCALLS, 'await ctx.db.insert("my-table", {});', {
    rejects: "Invalid argument `table` for `db.insert`: Identifier my-table has invalid character '-'",
  }),
  mutationRow(
    "insert-system-table",
    "System tables are read-only.",
    "npm convex/src/server/impl/database_impl.ts",
    'await ctx.db.insert("_storage", {});',
    { rejects: "System tables (prefixed with `_`) are read-only." },
  ),
  mutationRow(
    "insert-with-id",
    "An inserted document does not bring its own id.",
    DOCUMENT,
    'const _id = await ctx.db.insert("t", {}); await ctx.db.insert("t", { _id });',
    { rejects: /Provided document ID "\w+" doesn't match '_id' field "\w+"/ },
  ),
  mutationRow(
    "patch-id",
    "The id of a document does not change.",
    DOCUMENT,
    'const a = await ctx.db.insert("t", {}); const b = await ctx.db.insert("t", {}); await ctx.db.patch(a, { _id: b });',
    { rejects: /Provided document ID "\w+" doesn't match '_id' field "\w+"/ },
  ),
  mutationRow(
    "replace-creation-time",
    "The creation time of a document does not change.",
    DOCUMENT,
    'const id = await ctx.db.insert("t", {}); await ctx.db.replace(id, { _creationTime: 1 });',
    { rejects: /Provided creation time [\d.]+ doesn't match '_creationTime' field in \{_creationTime: 1\.0\}/ },
  ),
  mutationRow(
    "creation-times-grow",
    "Later documents have later creation times.",
    "https://docs.convex.dev/database/types#system-fields",
    'const times = []; for (let i = 0; i < 50; i++) times.push((await ctx.db.get(await ctx.db.insert("t", {})))._creationTime); return times.every((t, i) => i === 0 || t > times[i - 1]);',
    { value: true },
  ),
];

const ids: readonly Row[] = [
  mutationRow(
    "id-form",
    "Ids are 32 lower-case letters and digits.",
    "https://docs.convex.dev/database/document-ids",
    'return /^[0-9a-z]{31,37}$/.test(await ctx.db.insert("t", {}));',
    { value: true },
  ),
  mutationRow(
    "get-deleted",
    "db.get of a deleted document is null.",
    "https://docs.convex.dev/database/reading-data/#read-a-single-document",
    'const id = await ctx.db.insert("t", {}); await ctx.db.delete(id); return await ctx.db.get(id);',
    { value: null },
  ),
  mutationRow(
    "get-malformed",
    "db.get refuses what is no id.",
    "get-convex/convex-backend crates/value/src/id_v6.rs",
    'return await ctx.db.get("nonsense");',
    { rejects: "Invalid argument `id` for `db.get`: Unable to decode ID: Invalid ID length 8" },
  ),
  mutationRow(
    "delete-malformed",
    "db.delete refuses what is no id.",
    "get-convex/convex-backend crates/value/src/id_v6.rs",
    'await ctx.db.delete("x");',
    { rejects: "Invalid argument `id` for `db.delete`: Unable to decode ID: Invalid ID length 1" },
  ),
  mutationRow(
    "get-with-table",
    "db.get may be told the table.",
    "https://docs.convex.dev/database/reading-data/#read-a-single-document",
    'const id = await ctx.db.insert("other", { n: 1 }); return (await ctx.db.get("other", id)).n;',
    { value: 1 },
  ),
  mutationRow(
    "get-other-table",
    "db.get refuses an id of another table than it is told.",
    IDS,
    'const id = await ctx.db.insert("other", { n: 1 }); await ctx.db.get("t", id);',
    { rejects: 'Invalid argument `id` for `db.get`: expected to be an Id<"t">, got Id<"other"> instead.' },
  ),
  mutationRow(
    "patch-other-table",
    "db.patch refuses an id of another table than it is told.",
    IDS,
    'const id = await ctx.db.insert("other", { n: 1 }); await ctx.db.patch("t", id, {});',
    { rejects: 'Invalid argument `id` for `db.patch`: expected to be an Id<"t">, got Id<"other"> instead.' },
  ),
  mutationRow(
    "delete-other-table",
    "db.delete refuses an id of another table than it is told.",
    IDS,
    'const id = await ctx.db.insert("other", { n: 1 }); await ctx.db.delete("t", id);',
    { rejects: 'Invalid argument `id` for `db.delete`: expected to be an Id<"t">, got Id<"other"> instead.' },
  ),
  mutationRow(
    "patch-deleted",
    "A document that is gone cannot be patched.",
    TRANSACTION,
    'const id = await ctx.db.insert("t", {}); await ctx.db.delete(id); await ctx.db.patch(id, {});',
    { rejects: /Update on nonexistent document ID \w+/ },
  ),
  mutationRow(
    "replace-deleted",
    "A document that is gone cannot be replaced.",
    TRANSACTION,
    'const id = await ctx.db.insert("t", {}); await ctx.db.delete(id); await ctx.db.replace(id, {});',
    { rejects: /Replace on nonexistent document ID \w+/ },
  ),
  mutationRow(
    "delete-twice",
    "A document is deleted once.",
    TRANSACTION,
    'const id = await ctx.db.insert("t", {}); await ctx.db.delete(id); await ctx.db.delete(id);',
    { rejects: /Delete on nonexistent document ID \w+/ },
  ),
  mutationRow(
    "normalize",
    "normalizeId returns ids of the table it is asked about, and null otherwise.",
    "https://docs.convex.dev/database/document-ids#serializing-ids",
    'const id = await ctx.db.insert("t", {}); return [ctx.db.normalizeId("t", id) === id, ctx.db.normalizeId("other", id), ctx.db.normalizeId("t", "nonsense"), ctx.db.normalizeId("t", "")];',
    { value: [true, null, null, null] },
  ),
  mutationRow(
    "system-get-user",
    "db.system reads no user tables.",
    SYSCALLS,
    'await ctx.db.system.get(await ctx.db.insert("t", {}));',
    { rejects: "User tables cannot be accessed with db.system." },
  ),
  mutationRow(
    "system-query",
    "System tables are queried through db.system.",
    "https://docs.convex.dev/database/advanced/system-tables",
    'return [await ctx.db.system.query("_storage").collect(), await ctx.db.system.query("_scheduled_functions").collect()];',
    { value: [[], []] },
  ),
  mutationRow(
    "query-system-table",
    "db.query reads no system tables.",
    "npm convex/src/server/impl/database_impl.ts",
    'await ctx.db.query("_storage").collect();',
    { rejects: "System tables can only be accessed from db.system.query()." },
  ),
  mutationRow(
    "system-query-user",
    "db.system.query reads no user tables.",
    "npm convex/src/server/impl/database_impl.ts",
    'await ctx.db.system.query("t").collect();',
    { rejects: "User tables can only be accessed from db.query()." },
  ),
  mutationRow(
    "get-system-id",
    "db.get reads no system documents.",
    SYSCALLS,
    "const id = await ctx.scheduler.runAfter(60000, api.m.run, {}); await ctx.db.get(id);",
    { rejects: "System tables can only be accessed with db.system." },
  ),
  mutationRow(
    "delete-system-id",
    "db.delete deletes no system documents.",
    SYSCALLS,
    "const id = await ctx.scheduler.runAfter(60000, api.m.run, {}); await ctx.db.delete(id);",
    { rejects: "System tables can only be accessed with db.system." },
  ),
];

export const rows: readonly Row[] = [...limits, ...transactions, ...special, ...documents, ...ids];
