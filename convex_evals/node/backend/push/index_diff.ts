/** Which indexes a push adds and removes, as the CLI prints them. */

import type { SchemaJson, TableJson } from "../runtime_types.ts";
import { allComponents, type EvaluatedPush } from "./evaluated.ts";

export type IndexConfig =
  | { readonly type: "database"; readonly name: string; readonly fields: readonly string[]; readonly staged?: boolean }
  | {
      readonly type: "search";
      readonly name: string;
      readonly searchField: string;
      readonly filterFields: readonly string[];
      readonly staged?: boolean;
    }
  | {
      readonly type: "vector";
      readonly name: string;
      readonly dimensions: number;
      readonly vectorField: string;
      readonly filterFields: readonly string[];
      readonly staged?: boolean;
    };

export interface IndexDiff {
  readonly added_indexes: readonly IndexConfig[];
  readonly removed_indexes: readonly IndexConfig[];
}

/** Differences per component path; components without any are left out. */
export function indexDiffs(push: EvaluatedPush, previous: EvaluatedPush | null): Record<string, IndexDiff> {
  const before = schemasByComponent(previous);
  const after = schemasByComponent(push);
  const diffs: Record<string, IndexDiff> = {};
  for (const path of new Set([...before.keys(), ...after.keys()])) {
    const diff = indexDiff(before.get(path) ?? null, after.get(path) ?? null);
    if (diff.added_indexes.length + diff.removed_indexes.length > 0) diffs[path] = diff;
  }
  return diffs;
}

function schemasByComponent(push: EvaluatedPush | null): Map<string, SchemaJson | null> {
  if (!push) return new Map();
  return new Map([...allComponents(push.app)].map((instance) => [instance.componentPath, instance.definition.schema]));
}

function indexDiff(before: SchemaJson | null, after: SchemaJson | null): IndexDiff {
  const old = new Map(indexesOf(before).map((index) => [JSON.stringify(index), index]));
  const next = new Map(indexesOf(after).map((index) => [JSON.stringify(index), index]));
  return {
    added_indexes: [...next].filter(([key]) => !old.has(key)).map(([, index]) => index),
    removed_indexes: [...old].filter(([key]) => !next.has(key)).map(([, index]) => index),
  };
}

function indexesOf(schema: SchemaJson | null): IndexConfig[] {
  return (schema?.tables ?? []).flatMap((table) => [...indexesOfTable(table, false), ...indexesOfTable(table, true)]);
}

function indexesOfTable(table: TableJson, staged: boolean): IndexConfig[] {
  const name = (index: { indexDescriptor: string }): string => `${table.tableName}.${index.indexDescriptor}`;
  const mark = staged ? { staged: true } : {};
  const database = staged ? table.stagedDbIndexes : table.indexes;
  const search = staged ? table.stagedSearchIndexes : table.searchIndexes;
  const vector = staged ? table.stagedVectorIndexes : table.vectorIndexes;
  return [
    ...(database ?? []).map(
      (index): IndexConfig => ({ type: "database", name: name(index), fields: index.fields, ...mark }),
    ),
    ...(search ?? []).map(
      (index): IndexConfig => ({
        type: "search",
        name: name(index),
        searchField: index.searchField,
        filterFields: index.filterFields,
        ...mark,
      }),
    ),
    ...(vector ?? []).map(
      (index): IndexConfig => ({
        type: "vector",
        name: name(index),
        dimensions: index.dimensions,
        vectorField: index.vectorField,
        filterFields: index.filterFields,
        ...mark,
      }),
    ),
  ];
}
