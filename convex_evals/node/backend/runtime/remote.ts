/** The app's modules as the engine knows them: what the analysis of the push says, and a way to call their functions. */

import { ConvexError, jsonToConvex, type JSONValue, type Value } from "convex/values";
import { jsonProblem } from "../json_text.ts";
import type { DescribedError, Outcome } from "../outcomes.ts";
import { asError } from "../realm/outcome.ts";
import type { AnalyzedFunction, ComponentSetup, Invoker } from "../runtime_types.ts";
import { errorDataProblem } from "./value_rules.ts";

// The engine's own handlers are none of these.
const registered = new Set<unknown>();

/** Whether `handler` is of a function of the app. */
export function isRegistered(handler: unknown): boolean {
  return registered.has(handler);
}

/** Loaders of a component's modules, by path, as convex-test takes them. */
export function moduleLoaders(
  { path: componentPath, functions, hasRouter }: ComponentSetup,
  invoker: Invoker,
): Record<string, () => Promise<unknown>> {
  // convex-test looks for `_generated` to find the root of the modules.
  const loaders: Record<string, () => Promise<unknown>> = { "./_generated/api.js": async () => ({}) };
  for (const [name, listed] of Object.entries(functions)) {
    const module: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
    for (const fn of listed) {
      module[fn.name] = remoteFunction(fn, (args) => invoker.call(componentPath, name, fn, args));
    }
    if (name === "http" && hasRouter) module["default"] = remoteRouter(componentPath, invoker);
    loaders[`./${name}.js`] = async () => module;
  }
  return loaders;
}

/** A registered function of which nothing is ever asked but what the analysis says. */
function remoteFunction(fn: AnalyzedFunction, invoke: (args: string) => Promise<string>): unknown {
  const invoked = async (args: string): Promise<string> => {
    const outcome = JSON.parse(await invoke(args)) as Outcome;
    // The library makes a text of the data on its way out of a function.
    if ("error" in outcome) throw thrownError(outcome.error, (_data, text) => text);
    return outcome.value;
  };
  registered.add(invoked);
  return {
    _handler: invoked,
    [`is${fn.udfType}`]: true,
    [fn.visibility.kind === "public" ? "isPublic" : "isInternal"]: true,
    exportArgs: () => fn.args,
    exportReturns: () => fn.returns,
  };
}

function remoteRouter(componentPath: string, invoker: Invoker): unknown {
  const invoked = async (path: string, method: string, request: Request): Promise<Response> => {
    const outcome = await invoker.fetch(componentPath, { path, method }, request);
    if ("error" in outcome) throw thrownError(outcome.error, (data) => data);
    return outcome.response ?? new Response("No matching routes found", { status: 404 });
  };
  return {
    lookup: (path: string, method: string) => [
      { invokeHttpAction: async (request: Request) => await invoked(path, method, request) },
    ],
  };
}

function thrownError(error: DescribedError, handedOn: (data: Value, text: string) => unknown): Error {
  const { convexData } = error;
  if (convexData === undefined) return asError(error);
  // Convex cannot read such data, and reports the error without it.
  if (jsonProblem(convexData) !== null) return asError({ message: error.message, name: "ConvexError" });
  const data = jsonToConvex(JSON.parse(convexData) as JSONValue);
  const problem = errorDataProblem(data);
  if (problem) return problem;
  return Object.assign(new ConvexError(data), { data: handedOn(data, convexData), message: error.message });
}
