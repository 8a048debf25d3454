/** Rows that search documents of one table. */

import { moduleFile, schemaFile, type Expected, type Row, type Step } from "./harness.ts";

export const SCHEMA = schemaFile(
  't: defineTable(v.any()).searchIndex("words", { searchField: "text", filterFields: ["tag", "o.kind"] }).searchIndex("later", { searchField: "title", staged: true }).index("by_tag", ["tag"]).vectorIndex("near", { vectorField: "vec", dimensions: 2, filterFields: ["tag"] })',
);

export function rowOf(
  kind: "query" | "action",
  id: string,
  rule: string,
  citation: string,
  documents: string,
  body: string,
  expected: Expected,
): Row {
  const files = {
    ...SCHEMA,
    ...moduleFile(
      "m",
      `export const seed = mutation({ args: {}, handler: async (ctx: any) => { for (const document of ${documents} as any[]) await ctx.db.insert("t", document); } });
export const load = internalQuery({ args: { ids: v.array(v.any()) }, handler: async (ctx, { ids }) => await Promise.all(ids.map(async (id: any) => ((await ctx.db.get(id)) as any).n)) });
export const run = ${kind}({ args: {}, handler: async (ctx: any): Promise<any> => {\n${body}\n} });`,
    ),
  };
  const steps: Step[] = [
    { call: "mutation", path: "m:seed" },
    { call: kind, path: "m:run" },
  ];
  return { id: `search/${id}`, rule, citation, files, steps, expected };
}
