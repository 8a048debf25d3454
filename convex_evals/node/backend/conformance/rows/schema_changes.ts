/** Schemas that are pushed over documents. */

import { moduleFile, schemaFile, type Row } from "../harness.ts";

const REFERENCES = "get-convex/convex-backend crates/common/src/schemas/mod.rs";
const v1 = {
  ...schemaFile("t: defineTable({ a: v.string() })"),
  ...moduleFile(
    "m",
    'export const add = mutation({ args: {}, handler: async (ctx) => { await ctx.db.insert("t", { a: "x" }); } });',
  ),
};
const add = { call: "mutation", path: "m:add" } as const;
const evolve = (tables: string, options?: string): Row["files"] => ({
  ...v1,
  ...schemaFile(tables, options),
  ...moduleFile("m", "export const none = query(async () => null);"),
});

const evolution: readonly Row[] = [
  {
    id: "schema/new-required-field",
    rule: "A schema that stored documents do not match is refused.",
    citation: "https://docs.convex.dev/database/schemas#schema-validation",
    files: v1,
    steps: [add, { deploy: evolve("t: defineTable({ a: v.string(), b: v.number() })") }],
    expected: {
      rejects:
        /^Document with ID "\w+" in table "t" does not match the schema: Object is missing the required field `b`\. Consider wrapping the field validator in `v\.optional\(\.\.\.\)` if this is expected\./,
      code: "failed",
    },
  },
  {
    id: "schema/changed-type",
    rule: "A field's type cannot change under stored documents.",
    citation: REFERENCES,
    files: v1,
    steps: [add, { deploy: evolve("t: defineTable({ a: v.number() })") }],
    expected: {
      rejects:
        'does not match the schema: Value does not match validator.\nPath: .a\nValue: "x"\nValidator: v.float64()',
      code: "failed",
    },
  },
  {
    id: "schema/removed-field",
    rule: "A field cannot be removed while documents have it.",
    citation: REFERENCES,
    files: v1,
    steps: [add, { deploy: evolve("t: defineTable({})") }],
    expected: { rejects: "Object contains extra field `a` that is not in the validator.", code: "failed" },
  },
  {
    id: "schema/new-optional-field",
    rule: "An optional field can be added at any time.",
    citation: "https://docs.convex.dev/database/schemas#schema-validation",
    files: v1,
    steps: [add, { deploy: evolve("t: defineTable({ a: v.string(), b: v.optional(v.number()) })") }],
    expected: { accepts: true },
  },
  {
    id: "schema/removed-table",
    rule: "A table can leave the schema while it has documents.",
    citation: REFERENCES,
    files: v1,
    steps: [add, { deploy: evolve("other: defineTable({})") }],
    expected: { accepts: true },
  },
  {
    id: "schema/validation-off",
    rule: "With `schemaValidation: false` stored documents are not checked.",
    citation: REFERENCES,
    files: v1,
    steps: [add, { deploy: evolve("t: defineTable({ a: v.number() })", "{ schemaValidation: false }") }],
    expected: { accepts: true },
  },
];

export const rows: readonly Row[] = [...evolution];
