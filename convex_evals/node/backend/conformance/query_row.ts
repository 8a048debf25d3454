/** Rows that read documents of one table. */

import { moduleFile, schemaFile, type Expected, type Row, type Step } from "./harness.ts";

export const SCHEMA = schemaFile(
  't: defineTable(v.any()).index("by_a_b", ["a", "b"]).index("by_x", ["x"]).index("by_deep", ["o.p"]).index("later", { fields: ["b"], staged: true }).searchIndex("words", { searchField: "text" })',
);

/** A row whose body runs in a query, after `seed` has inserted documents. */
export function queryRow(
  id: string,
  rule: string,
  citation: string,
  documents: string,
  body: string,
  expected: Expected,
  args: Record<string, unknown> = {},
): Row {
  const files = {
    ...SCHEMA,
    ...moduleFile(
      "m",
      `export const seed = mutation({ args: { x: v.optional(v.any()) }, handler: async (ctx: any, { x }: any) => { for (const document of ${documents} as any[]) await ctx.db.insert("t", document); } });
export const run = query({ args: { x: v.optional(v.any()) }, handler: async (ctx: any, { x }: any) => {\n${body}\n} });`,
    ),
  };
  const steps: Step[] = [
    { call: "mutation", path: "m:seed", args },
    { call: "query", path: "m:run", args },
  ];
  return { id: `queries/${id}`, rule, citation, files, steps, expected };
}
