/** Limits of documents, and of what one transaction reads and writes. */

import { moduleFile, type Row } from "../harness.ts";
import { SCHEMA, mutationRow } from "../mutation_row.ts";

const LIMITS = "https://docs.convex.dev/production/state/limits";
const DOCUMENT = "get-convex/convex-backend crates/common/src/document.rs";
const SIZE = "get-convex/convex-backend crates/value/src/size.rs";
const VALUES = "npm convex/src/values/value.ts";
const READS = "get-convex/convex-backend crates/database/src/reads.rs";
const WRITES = "get-convex/convex-backend crates/database/src/writes.rs";
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

export const rows: readonly Row[] = [...limits, ...transactions];
