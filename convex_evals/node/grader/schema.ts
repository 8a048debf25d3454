/** The candidate's schema compared with the answer's, by meaning. */
import { makeFunctionReference } from "convex/server";
import type { ValidatorJSON } from "convex/values";
import type { GraderClient } from "./clients.ts";
import { askAnswer, askProject } from "./facts.ts";
import { validatorDifferences } from "./validator_differences.ts";

/** One table as the deployment reports it. */
export interface TableSchema {
  tableName: string;
  documentType: ValidatorJSON;
  indexes: { indexDescriptor: string; fields: string[] }[];
  searchIndexes: { indexDescriptor: string; searchField: string; filterFields: string[] }[];
  vectorIndexes: { indexDescriptor: string; vectorField: string; dimensions: number; filterFields: string[] }[];
}

export interface SchemaComparison {
  /** Only these tables; by default all that the answer has. Further tables of the candidate are never an error. */
  tables?: string[];
  /**
   * `fields` (the default): an index over the same fields must exist, under any name. `names`: under the same name,
   * for tasks that state it. `ignored`: indexes are shown by behaviour instead. Further indexes are never an error.
   */
  indexes?: "fields" | "names" | "ignored";
  /** `same` (the default), or `ignored` where stored and refused documents show what the tables accept. */
  documents?: "same" | "ignored";
}

const getSchemas = makeFunctionReference<"query", Record<string, never>, { active?: string }>(
  "_system/frontend/getSchemas",
);

/** The deployed schema's tables; undefined when there is no schema. The project's is what it pushed, unless there is a `client`. */
export async function readSchema(client?: GraderClient): Promise<TableSchema[] | undefined> {
  return schemaOf(client ? await client.query(getSchemas, {}) : await askProject(getSchemas))?.tables;
}

interface DeployedSchema {
  tables: TableSchema[];
  schemaValidation: boolean;
}

function schemaOf({ active }: { active?: string }): DeployedSchema | undefined {
  return active === undefined ? undefined : (JSON.parse(active) as DeployedSchema);
}

/** Asserts that the candidate's tables accept the same documents as the answer's, are held to them, and have its indexes. */
export async function expectSameSchema(comparison: SchemaComparison = {}): Promise<void> {
  const [candidate, answer] = (await Promise.all([askProject(getSchemas), askAnswer(getSchemas)])).map(schemaOf);
  if (answer === undefined) throw new Error("The answer of this eval has no schema to compare with");
  if (candidate === undefined) throw new Error("The project must define a schema in `convex/schema.ts`");
  const differences = [
    ...(answer.schemaValidation && !candidate.schemaValidation
      ? ["documents must be held to the schema, which `schemaValidation: false` switches off"]
      : []),
    ...schemaDifferences(candidate.tables, answer.tables, comparison),
  ];
  if (differences.length > 0) {
    throw new Error(`The schema is not the one that the task describes:\n- ${differences.join("\n- ")}`);
  }
}

/** In words, where `candidate` differs from `answer`. */
export function schemaDifferences(
  candidate: TableSchema[],
  answer: TableSchema[],
  comparison: SchemaComparison = {},
): string[] {
  const { tables = answer.map((table) => table.tableName), indexes = "fields", documents = "same" } = comparison;
  return tables.flatMap((name) => {
    const expected = answer.find((table) => table.tableName === name);
    if (expected === undefined) throw new Error(`The answer has no table \`${name}\``);
    const found = candidate.find((table) => table.tableName === name);
    if (found === undefined) return [`there must be a table \`${name}\``];
    return [
      ...(documents === "ignored"
        ? []
        : validatorDifferences(`a document of \`${name}\``, found.documentType, expected.documentType)),
      ...(indexes === "ignored" ? [] : indexDifferences(found, expected, indexes)),
    ];
  });
}

interface IndexText {
  name: string;
  text: string;
}

function indexDifferences(candidate: TableSchema, expected: TableSchema, by: "fields" | "names"): string[] {
  const found = indexTexts(candidate);
  return indexTexts(expected)
    .filter(({ name, text }) => !found.some((index) => index.text === text && (by === "fields" || index.name === name)))
    .map(
      ({ name, text }) => `\`${expected.tableName}\` must have ${text}${by === "names" ? `, called \`${name}\`` : ""}`,
    );
}

function indexTexts(table: TableSchema): IndexText[] {
  const quoted = (fields: string[]): string => fields.map((field) => `\`${field}\``).join(", ");
  const filters = (fields: string[]): string =>
    fields.length > 0 ? ` with the filter fields ${quoted([...fields].sort())}` : "";
  return [
    ...table.indexes.map(({ indexDescriptor, fields }) => ({
      name: indexDescriptor,
      // Convex ends every index with the creation time, which nobody writes.
      text: `an index on ${quoted(fields.filter((field) => field !== "_creationTime"))}, in this order`,
    })),
    ...table.searchIndexes.map(({ indexDescriptor, searchField, filterFields }) => ({
      name: indexDescriptor,
      text: `a search index on \`${searchField}\`${filters(filterFields)}`,
    })),
    ...table.vectorIndexes.map(({ indexDescriptor, vectorField, dimensions, filterFields }) => ({
      name: indexDescriptor,
      text: `a vector index on \`${vectorField}\` of ${dimensions} dimensions${filters(filterFields)}`,
    })),
  ];
}
