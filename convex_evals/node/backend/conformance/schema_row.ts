/** Rows that deploy a schema. */

import { schemaFile, type Expected, type Row } from "./harness.ts";

export const TABLE =
  "t: defineTable({ a: v.string(), b: v.number(), list: v.array(v.string()), o: v.object({ inner: v.number() }), vec: v.array(v.float64()) })";
/** A row of one schema; `tables` is what `defineSchema` gets. */
export function schemaRow(
  id: string,
  rule: string,
  citation: string,
  tables: string,
  expected: Expected,
  options?: string,
): Row {
  return { id: `schema/${id}`, rule, citation, files: schemaFile(tables, options), expected };
}

export const numbered = (count: number, text: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => text(at)).join("");

export const fields = (count: number): string => `{ ${numbered(count, (at) => `f${at}: v.string(), `)} }`;

export const names = (count: number): string => `[${numbered(count, (at) => `"f${at}", `)}]`;
