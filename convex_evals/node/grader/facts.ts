/**
 * What deployments say of themselves: which functions, tables, jobs and components they have. It was asked before a test
 * ran, and the tester passes it on: the project's from its push, of the answer's, which are the same for every project, once.
 */
import { readFileSync } from "node:fs";
import { getFunctionName, type FunctionReference } from "convex/server";
import { jsonToConvex, type JSONValue } from "convex/values";
import { adminClient, answerClient, type GraderClient } from "./clients.ts";

type SystemQuery<T> = FunctionReference<"query", "public", Record<string, never>, T>;
type Variable = "CONVEX_PROJECT_FACTS" | "CONVEX_ANSWER_FACTS";

const recorded = new Map<Variable, Record<string, JSONValue>>();

/** The project's value of a system query without arguments, or that of one of its components, by its id. */
export async function askProject<T>(query: SystemQuery<T>, componentId?: string): Promise<T> {
  return await ask("CONVEX_PROJECT_FACTS", query, adminClient, componentId);
}

/** The value of a system query of any deployment. */
export async function askClient<T>(client: GraderClient, query: SystemQuery<T>, componentId?: string): Promise<T> {
  // Each takes the id of a component, whatever its type says.
  const args = (componentId === undefined ? {} : { componentId }) as Record<string, never>;
  return await client.query(query, args);
}

/** The answer's value of a system query without arguments. */
export async function askAnswer<T>(query: SystemQuery<T>): Promise<T> {
  return await ask("CONVEX_ANSWER_FACTS", query, answerClient);
}

/** What a push says of the app or of a component below it: `CheckedComponent` of the official CLI. */
export interface PushedComponent {
  /** Where its definition lies, as a path that leads there from the functions of the project. */
  definitionPath: string;
  componentPath: string;
  childComponents: Record<string, PushedComponent>;
  httpRoutes: { httpModuleRoutes: { method: string; path: string }[] | null; mounts: string[] };
}

/** The project's app, as the answer to its push describes it. */
export function pushedApp(): PushedComponent {
  const app = facts("CONVEX_PROJECT_FACTS")?.["start_push"];
  if (app === undefined) throw new Error("CONVEX_PROJECT_FACTS is not set: this grader was started outside the tester");
  return app as unknown as PushedComponent;
}

async function ask<T>(
  variable: Variable,
  query: SystemQuery<T>,
  client: () => GraderClient,
  componentId?: string,
): Promise<T> {
  const name = getFunctionName(query);
  const value = facts(variable)?.[componentId === undefined ? name : `${name} ${componentId}`];
  return value === undefined ? await askClient(client(), query, componentId) : (jsonToConvex(value) as T);
}

function facts(variable: Variable): Record<string, JSONValue> | undefined {
  const file = process.env[variable];
  if (!file) return undefined;
  let found = recorded.get(variable);
  if (found === undefined) {
    recorded.set(variable, (found = JSON.parse(readFileSync(file, "utf8")) as Record<string, JSONValue>));
  }
  return found;
}
