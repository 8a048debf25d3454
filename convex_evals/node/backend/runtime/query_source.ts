/** What a query is made of, before it is run: get-convex/convex-backend crates/common/src/json/query.rs */

import { identifierProblem } from "../identifiers.ts";
import { sizeProblem, wrongType } from "./serde_text.ts";

interface SerializedQuery {
  readonly source: Readonly<Record<"tableName" | "indexName" | "order", unknown>>;
  readonly operators: readonly { readonly limit?: unknown }[];
}

/** Refuses a query that cannot be run, whatever the schema is. */
export function checkQuery(query: SerializedQuery, syscall: "queryStream" | "queryPage"): void {
  const problem = problemOf(query);
  if (problem !== null) throw new Error(`Invalid argument \`query\` for \`${syscall}\`: ${problem}`);
}

function problemOf({ source, operators }: SerializedQuery): string | null {
  const order = source.order ?? null;
  if (order !== null && typeof order !== "string") return wrongType(order, "a string");
  for (const operator of operators) {
    const problem = "limit" in operator ? sizeProblem(operator.limit) : null;
    if (problem !== null) return problem;
  }
  const problem =
    typeof source.indexName === "string" ? indexProblem(source.indexName) : tableProblem(source.tableName);
  if (problem !== null) return problem;
  return order === null || order === "asc" || order === "desc" ? null : 'expected "asc" or "desc"';
}

function tableProblem(name: unknown): string | null {
  return typeof name === "string" ? identifierProblem(name) : wrongType(name, "a string");
}

// get-convex/convex-backend crates/common/src/types/index.rs: of both parts it says that the table's name is invalid.
function indexProblem(name: string): string | null {
  const [table = "", index, more] = name.split(".");
  for (const part of [table, index]) {
    if (part === undefined) return `Insufficient components in index name ${name}`;
    if (identifierProblem(part) === null) continue;
    return `Invalid table name: "${part}". Identifiers must start with a letter and can only contain letters, digits, and underscores.`;
  }
  return more === undefined ? null : `Too many components in index name ${name}`;
}
