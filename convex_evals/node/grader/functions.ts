/** The functions that a deployment registered: which exist, of which kind, who may call them, with which arguments. */
import { makeFunctionReference } from "convex/server";
import type { ValidatorJSON } from "convex/values";
import type { GraderClient } from "./clients.ts";
import { askAnswer, askProject, pushedApp } from "./facts.ts";
import { validatorDifferences } from "./validator_differences.ts";

/** One registered function; `name` is as in `api` ("folder/module:export", "module:default"). */
export interface FunctionSpec {
  name: string;
  type: "query" | "mutation" | "action";
  visibility: "public" | "internal";
  args: ValidatorJSON;
  returns: ValidatorJSON;
}

/** What a task fixes about a function. */
export type FunctionExpectation = Pick<FunctionSpec, "type" | "visibility">;

export interface FunctionComparison {
  /** Compare the public functions only (the default): what is internal is the candidate's own business. */
  publicOnly?: boolean;
  /**
   * Compare argument validators (the default). A function without one accepts anything, and differs; one that takes no
   * arguments need not say so, unless they are to be `declared`.
   */
  args?: boolean | "declared";
  /** Compare the validators of returned values. Off by default: they are optional in Convex. */
  returns?: boolean;
}

interface ReportedFunction {
  identifier?: string;
  functionType: "Query" | "Mutation" | "Action" | "HttpAction";
  visibility?: { kind: "public" | "internal" };
  args?: ValidatorJSON;
  returns?: ValidatorJSON;
}

const apiSpec = makeFunctionReference<"query", Record<string, never>, ReportedFunction[]>(
  "_system/cli/modules:apiSpec",
);
const TYPES = { Query: "query", Mutation: "mutation", Action: "action" } as const;

/** All queries, mutations and actions of a deployment, by name: of the project's as it was pushed, unless there is a `client`. */
export async function listFunctions(client?: GraderClient): Promise<Map<string, FunctionSpec>> {
  return byName(client ? await client.query(apiSpec, {}) : await askProject(apiSpec));
}

/** One route of the project's HTTP actions. */
export interface HttpRoute {
  /** "*" for all, where a component is mounted. */
  method: string;
  /** Ends in "*" where all paths are meant that begin like this. */
  path: string;
}

/** The routes of the project's HTTP actions, as they were pushed. A component that is mounted is one route. */
export function listRoutes(): HttpRoute[] {
  const { httpModuleRoutes, mounts } = pushedApp().httpRoutes;
  return [
    ...(httpModuleRoutes ?? []).map(({ method, path }) => ({ method, path })),
    ...mounts.map((prefix) => ({ method: "*", path: `${prefix}*` })),
  ];
}

/**
 * All that clients can call of the project, in order: public functions as "module:name (query)", routes of HTTP actions
 * as "POST /path". For tasks that say "and nothing else".
 */
export async function listCallable(): Promise<string[]> {
  const functions = [...(await listFunctions()).values()].filter(({ visibility }) => visibility === "public");
  return [
    ...functions.map(({ name, type }) => `${name} (${type})`),
    ...listRoutes().map(({ method, path }) => `${method} ${path}`),
  ].sort();
}

function byName(reported: ReportedFunction[]): Map<string, FunctionSpec> {
  const functions = new Map<string, FunctionSpec>();
  for (const { identifier, functionType, visibility, args, returns } of reported) {
    if (functionType === "HttpAction" || identifier === undefined) continue;
    const name = identifier.replace(/\.js(?=:|$)/, "");
    functions.set(name, {
      name,
      type: TYPES[functionType],
      visibility: visibility?.kind ?? "public",
      args: args ?? { type: "any" },
      returns: returns ?? { type: "any" },
    });
  }
  return functions;
}

/** Asserts that these functions exist as the task describes them: `{"tasks:add": {type: "mutation", visibility: "internal"}}`. */
export async function expectFunctions(expected: Record<string, FunctionExpectation>): Promise<void> {
  const functions = await listFunctions();
  report(
    Object.entries(expected).flatMap(([name, expectation]) => kindDifferences(name, functions.get(name), expectation)),
  );
}

/** Asserts that the candidate has the answer's functions. Further functions of the candidate are never an error. */
export async function expectSameFunctions(comparison: FunctionComparison = {}): Promise<void> {
  const [candidate, answer] = await Promise.all([listFunctions(), askAnswer(apiSpec)]);
  report(functionDifferences(candidate, byName(answer), comparison));
}

/** In words, where `candidate` differs from `answer`. */
export function functionDifferences(
  candidate: ReadonlyMap<string, FunctionSpec>,
  answer: ReadonlyMap<string, FunctionSpec>,
  { publicOnly = true, args = true, returns = false }: FunctionComparison = {},
): string[] {
  return [...answer.values()]
    .filter(({ visibility }) => !publicOnly || visibility === "public")
    .flatMap((expected) => {
      const found = candidate.get(expected.name);
      const kind = kindDifferences(expected.name, found, expected);
      if (found === undefined || kind.length > 0) return kind;
      return [
        ...(args ? argumentDifferences(found, expected, args === "declared") : []),
        ...(returns
          ? validatorDifferences(`the returned value of \`${expected.name}\``, found.returns, expected.returns)
          : []),
      ];
    });
}

function argumentDifferences(found: FunctionSpec, expected: FunctionSpec, declared: boolean): string[] {
  const takesNone = expected.args.type === "object" && Object.keys(expected.args.value).length === 0;
  if (!declared && takesNone && found.args.type === "any") return [];
  return validatorDifferences(`the arguments of \`${expected.name}\``, found.args, expected.args);
}

function kindDifferences(name: string, found: FunctionSpec | undefined, expected: FunctionExpectation): string[] {
  const described = ({ type, visibility }: FunctionExpectation): string => `${visibility} ${type}`;
  if (found === undefined) return [`there must be a function \`${name}\` (${described(expected)})`];
  if (described(found) === described(expected)) return [];
  return [`\`${name}\` must be registered as ${described(expected)}, not as ${described(found)}`];
}

function report(differences: string[]): void {
  if (differences.length > 0) {
    throw new Error(`The functions are not the ones that the task describes:\n- ${differences.join("\n- ")}`);
  }
}
