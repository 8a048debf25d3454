/** What queries and writes are given, and do not take. */

import type { Expected, Row } from "../harness.ts";
import { mutationRow } from "../mutation_row.ts";
import { queryRow } from "../query_row.ts";

const QUERIES = "get-convex/convex-backend crates/common/src/json/query.rs";
const NAMES = "get-convex/convex-backend crates/common/src/types/index.rs";
const WRITES = "get-convex/convex-backend crates/isolate/src/environment/udf/async_syscall.rs";
const PATCHES = "get-convex/convex-backend crates/database/src/patch.rs";

const read = (id: string, rule: string, query: string, expected: Expected, citation = QUERIES): Row =>
  queryRow(
    `argument-${id}`,
    rule,
    citation,
    "[1, 2].map((n) => ({ n, x: n }))",
    `const read: any = await ctx.db.${query}; return (read?.page ?? read).map(({ n }: any) => n);`,
    expected,
  );

const UNKNOWN_ORDER = 'Invalid argument `query` for `queryStream`: expected "asc" or "desc"';

const reads: readonly Row[] = [
  read("order", 'Queries are ordered "asc" or "desc".', 'query("t").order("up").collect()', { rejects: UNKNOWN_ORDER }),
  read("order-case", "Case matters.", 'query("t").order("DESC").first()', { rejects: UNKNOWN_ORDER }),
  read("order-empty", "An empty text is no order.", 'query("t").order("").take(1)', { rejects: UNKNOWN_ORDER }),
  read("order-index", "So it is with an index,", 'query("t").withIndex("by_x").order("up").unique()', {
    rejects: UNKNOWN_ORDER,
  }),
  read("order-page", "and with pages.", 'query("t").order("up").paginate({ numItems: 1, cursor: null })', {
    rejects: 'Invalid argument `query` for `queryPage`: expected "asc" or "desc"',
  }),
  read("order-number", "An order is a text.", 'query("t").order(1).collect()', {
    rejects: "Invalid argument `query` for `queryStream`: invalid type: integer `1`, expected a string",
  }),
  read("order-object", "So it is with objects.", 'query("t").order({ n: "asc" }).collect()', {
    rejects: "Invalid argument `query` for `queryStream`: invalid type: map, expected a string",
  }),
  read("order-null", "Null is no order at all: queries are ascending.", 'query("t").order(null).collect()', {
    value: [1, 2],
  }),
  read(
    "order-undefined",
    "Undefined is refused before.",
    'query("t").order(undefined).collect()',
    { rejects: "Must provide arg 1 `order` to `order`" },
    "npm convex/src/server/impl/validate.ts",
  ),
  read("take", "What can be taken has 64 bits.", 'query("t").take(1e21)', {
    rejects: "Invalid argument `query` for `queryStream`: invalid type: floating point `1e21`, expected usize",
  }),
  read("take-many", "More than there is may be asked for.", 'query("t").take(2 ** 60)', { value: [1, 2] }),
  read("table", "Names of tables are identifiers.", 'query("my-table").collect()', {
    rejects:
      "Invalid argument `query` for `queryStream`: Identifier my-table has invalid character '-': Identifiers can only contain alphanumeric characters or underscores",
  }),
  read(
    "index",
    "Names of indexes are identifiers.",
    'query("t").withIndex("by-x").collect()',
    { rejects: 'Invalid argument `query` for `queryStream`: Invalid table name: "by-x". Identifiers must start' },
    NAMES,
  ),
  read(
    "index-parts",
    "They have one part.",
    'query("t").withIndex("by_x.n").collect()',
    { rejects: "Invalid argument `query` for `queryStream`: Too many components in index name t.by_x.n" },
    NAMES,
  ),
];

const written = (id: string, rule: string, citation: string, body: string, expected: Expected): Row =>
  mutationRow(`argument-${id}`, rule, citation, `const id = await ctx.db.insert("t", { a: 1 }); ${body}`, expected);

/** A row for each value that is no object, as `convex/values` has it in JSON. */
const notObjects = (method: "insert" | "replace", start: string): Row[] =>
  Object.entries({
    array: "[{ a: 1 }]",
    empty: "[]",
    null: "null",
    text: '"a"',
    number: "5",
    boolean: "true",
    integer: "5n",
    nan: "NaN",
    bytes: "new ArrayBuffer(2)",
  }).map(([name, value]) =>
    written(`${method}-${name}`, "Documents are objects.", WRITES, `await ctx.db.${method}(${start}, ${value});`, {
      rejects: `Invalid argument \`value\` for \`db.${method}\`: Value must be an Object`,
    }),
  );

const patched = (name: string, rule: string, value: string, reason: string): Row =>
  written(`patch-${name}`, rule, PATCHES, `await ctx.db.patch(id, ${value});`, {
    rejects: `Invalid argument \`value\` for \`db.patch\`: ${reason}`,
  });

const NO_OBJECT = "Value must be an Object";

const writes: readonly Row[] = [
  ...notObjects("insert", '"t"'),
  ...notObjects("replace", "id"),
  patched("array", "Patches are objects.", "[{ a: 1 }]", NO_OBJECT),
  patched("empty", "An empty array is none.", "[]", NO_OBJECT),
  patched("null", "Null is none.", "null", NO_OBJECT),
  patched("text", "A text is none.", '"a"', NO_OBJECT),
  patched("number", "A number is none.", "5", NO_OBJECT),
  patched("boolean", "A boolean is none.", "false", NO_OBJECT),
  patched(
    "integer",
    "An integer is an object in JSON, with a field that has no name of a field.",
    "5n",
    "Field name $integer starts with '$', which is reserved.",
  ),
  patched("nan", "So is NaN,", "NaN", "Field name $float starts with '$', which is reserved."),
  patched("bytes", "and so are bytes.", "new ArrayBuffer(2)", "Field name $bytes starts with '$', which is reserved."),
  written(
    "patch-nothing",
    "An empty patch changes nothing.",
    PATCHES,
    "await ctx.db.patch(id, {}); return (await ctx.db.get(id)).a;",
    { value: 1 },
  ),
  written(
    "patch-deleted",
    "What is wrong with a patch is told before the document is looked for.",
    WRITES,
    "await ctx.db.delete(id); await ctx.db.patch(id, []);",
    { rejects: `Invalid argument \`value\` for \`db.patch\`: ${NO_OBJECT}` },
  ),
  written("patch-table", "So it is where the table is named.", WRITES, 'await ctx.db.patch("t", id, []);', {
    rejects: `Invalid argument \`value\` for \`db.patch\`: ${NO_OBJECT}`,
  }),
  written(
    "patch-undefined",
    "Undefined is refused before.",
    "npm convex/src/server/impl/validate.ts",
    "await ctx.db.patch(id, undefined);",
    { rejects: "Must provide arg 2 `value` to `patch`" },
  ),
  written(
    "patch-date",
    "So is what is no value at all.",
    "npm convex/src/values/value.ts",
    "await ctx.db.patch(id, new Date(0));",
    { rejects: /Uncaught Error: Date .* is not a supported Convex type\./ },
  ),
  written("patch-id", "Ids are texts.", WRITES, "await ctx.db.patch(5, {});", {
    rejects: "Invalid arguments for `db.patch`: invalid type: integer `5`, expected a string",
  }),
  written("delete-id", "An object is no id.", WRITES, "await ctx.db.delete({ id });", {
    rejects: "Invalid arguments for `db.delete`: invalid type: map, expected a string",
  }),
];

export const rows: readonly Row[] = [...reads, ...writes];
