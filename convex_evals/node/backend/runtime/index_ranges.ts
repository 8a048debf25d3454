/** `.withIndex()`: get-convex/convex-backend crates/common/src/query.rs (IndexRange::compile), crates/indexing/src/index_registry.rs */

import type { ComponentData } from "../data_store.ts";
import type { IndexJson, TableJson } from "../runtime_types.ts";
import { formatValue } from "./validator_text.ts";

type RangeOperator = "Eq" | "Gt" | "Gte" | "Lt" | "Lte";

interface RangeExpression {
  readonly type: RangeOperator;
  readonly fieldPath: string;
  readonly value: unknown;
}

interface IndexSource {
  /** "table.index" */
  readonly indexName: string;
  readonly range: readonly RangeExpression[];
}

const BUILT_IN: Readonly<Record<string, readonly string[]>> = {
  by_id: ["_id"],
  by_creation_time: ["_creationTime", "_id"],
};

/** The fields that an index sorts by; throws for an index that cannot be queried. */
export function indexFields(table: TableJson | undefined, tableName: string, indexName: string): readonly string[] {
  const builtIn = Object.hasOwn(BUILT_IN, indexName) ? BUILT_IN[indexName] : undefined;
  if (builtIn) return builtIn;
  const named = ({ indexDescriptor }: { indexDescriptor: string }): boolean => indexDescriptor === indexName;
  const index: IndexJson | undefined = table?.indexes.find(named);
  if (index) return [...index.fields, "_creationTime", "_id"];
  requireEnabled(table, `${tableName}.${indexName}`, named);
  throw new Error(`Index ${tableName}.${indexName} is not a database index`);
}

/** Throws when an index is staged or not there at all. */
export function requireEnabled(
  table: TableJson | undefined,
  name: string,
  named: (index: { indexDescriptor: string }) => boolean,
): void {
  const staged = [
    ...(table?.stagedDbIndexes ?? []),
    ...(table?.stagedSearchIndexes ?? []),
    ...(table?.stagedVectorIndexes ?? []),
  ];
  if (staged.some(named)) {
    throw new Error(`Index ${name} is currently staged and not available to query until it is enabled.`);
  }
  const enabled = [...(table?.indexes ?? []), ...(table?.searchIndexes ?? []), ...(table?.vectorIndexes ?? [])];
  if (!enabled.some(named)) throw new Error(`Index ${name} not found.`);
}

/**
 * Throws when a range is not one interval of the index. The order in which the
 * equalities are written does not matter.
 */
export function checkIndexRange(
  { indexName, range }: IndexSource,
  fields: readonly string[],
  decode: (encoded: unknown) => unknown,
): void {
  const { equalities, bounded } = splitRange(indexName, range, decode);
  const declared = `[${fields.filter((field) => field !== "_id").join(", ")}]`;
  for (const field of [...equalities, ...bounded]) {
    if (fields.includes(field)) continue;
    throw new Error(
      `The index range included a comparison with "${field}", but ${indexName} with fields ${declared} doesn't index this field. For more information see https://docs.convex.dev/using/indexes.`,
    );
  }
  const used = [...equalities.sort((a, b) => fields.indexOf(a) - fields.indexOf(b)), ...bounded];
  const wrong = used.find((field, at) => field !== fields[at]);
  if (wrong === undefined) return;
  throw new Error(
    `Tried to query index ${indexName} but the query didn't use the index fields in order.\nIndex fields: ${declared}\nQuery fields: [${used.join(", ")}]\nFirst incorrect field: ${wrong}\nFor more information see https://docs.convex.dev/using/indexes.`,
  );
}

const SYMBOLS: Readonly<Record<RangeOperator, string>> = { Eq: "==", Gt: ">", Gte: ">=", Lt: "<", Lte: "<=" };

function splitRange(
  indexName: string,
  range: readonly RangeExpression[],
  decode: (encoded: unknown) => unknown,
): { equalities: string[]; bounded: string[] } {
  const equalities = new Map<string, unknown>();
  const bounds: { upper: boolean; lower: boolean; field: string | null } = { upper: false, lower: false, field: null };
  const twice = (kind: string, { type, fieldPath }: RangeExpression, value: unknown): never => {
    throw new Error(
      `Already defined ${kind} bound in index range. Can't add "${fieldPath}" ${SYMBOLS[type]} ${formatValue(decode(value))}.`,
    );
  };
  for (const expression of range) {
    const { type, fieldPath, value } = expression;
    if (type === "Eq") {
      if (equalities.has(fieldPath)) twice("equality", expression, equalities.get(fieldPath));
      equalities.set(fieldPath, value);
      continue;
    }
    const side = type === "Lt" || type === "Lte" ? "upper" : "lower";
    if (bounds[side]) twice(side, expression, value);
    if (bounds.field !== null && bounds.field !== fieldPath) {
      throw new Error(onTwoFields(indexName, bounds.field, fieldPath));
    }
    bounds[side] = true;
    bounds.field = fieldPath;
  }
  if (bounds.field !== null && equalities.has(bounds.field)) {
    twice("inequality", { type: "Eq", fieldPath: bounds.field, value: null }, equalities.get(bounds.field));
  }
  return { equalities: [...equalities.keys()], bounded: bounds.field === null ? [] : [bounds.field] };
}

function onTwoFields(indexName: string, first: string, second: string): string {
  return `Upper and lower bounds in \`range\` can only be applied to a single index field. This query against index ${indexName} attempted to set a range bound on both "${first}" and "${second}". Consider using \`filter\` instead. See https://docs.convex.dev/using/indexes for more info.`;
}

/**
 * Ids of the documents that a range can give, of those that are committed: found by the texts that it begins with, where it
 * does, else all of the table.
 */
export function candidates(data: ComponentData, table: string, range: readonly RangeExpression[]): Iterable<string> {
  const fields: string[] = [];
  const values: string[] = [];
  for (const { type, fieldPath, value } of range) {
    if (type !== "Eq" || typeof value !== "string") break;
    fields.push(fieldPath);
    values.push(value);
  }
  return fields.length === 0 ? data.idsOf(table) : data.idsWhere(table, fields, values);
}
