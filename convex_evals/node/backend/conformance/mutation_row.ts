/** Rows that write documents of one table. */

import { moduleFile, schemaFile, type Expected, type Row, type Step } from "./harness.ts";

export const SCHEMA = schemaFile(
  't: defineTable(v.any()), other: defineTable({ n: v.number() }), strict: defineTable({ a: v.string(), n: v.optional(v.number()), ref: v.optional(v.id("other")) })',
);
/** A row whose function body has `ctx` of a mutation; what it returns is the value. */
export function mutationRow(
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
