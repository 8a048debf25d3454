/**
 * What the reference answer's deployment says of itself. It is the same for every project, so it was asked once, and
 * the tester passes it on; the answer's backend starts for other questions alone.
 */
import { readFileSync } from "node:fs";
import { getFunctionName, type FunctionReference } from "convex/server";
import { jsonToConvex, type JSONValue } from "convex/values";
import { answerClient } from "./clients.ts";

let recorded: Record<string, JSONValue> | undefined;

/** The answer's value of a system query without arguments. */
export async function askAnswer<T>(query: FunctionReference<"query", "public", Record<string, never>, T>): Promise<T> {
  const file = process.env["CONVEX_ANSWER_FACTS"];
  if (file) recorded ??= JSON.parse(readFileSync(file, "utf8")) as Record<string, JSONValue>;
  const value = recorded?.[getFunctionName(query)];
  return value === undefined ? await answerClient().query(query, {}) : (jsonToConvex(value) as T);
}
