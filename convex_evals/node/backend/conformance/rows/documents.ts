/** Values, and how documents are inserted, patched and replaced. */

import type { Row } from "../harness.ts";
import { mutationRow } from "../mutation_row.ts";

const DOCUMENT = "get-convex/convex-backend crates/common/src/document.rs";
const VALUES = "npm convex/src/values/value.ts";
const SYSCALLS = "get-convex/convex-backend crates/isolate/src/environment/udf/async_syscall.rs";
const TYPES = "https://docs.convex.dev/database/types";

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

export const rows: readonly Row[] = [...special, ...documents];
