/** Functions that run in another process. */

import { ConvexError, convexToJson, jsonToConvex, type JSONValue, type Value } from "convex/values";
import type { Outcome } from "../node_messages.ts";
import type { AnalyzedFunction } from "../runtime_types.ts";

type Invoke = (name: string, args: string) => Promise<string>;

/** A module whose functions are what the analysis (JSON text) says, and run where `invoke` runs them: it returns an `Outcome` as JSON text. */
export function remoteModule(functionsJson: string, invoke: Invoke): object {
  const module = Object.create(null) as Record<string, unknown>;
  for (const fn of JSON.parse(functionsJson) as AnalyzedFunction[]) module[fn.name] = remoteFunction(fn, invoke);
  return module;
}

function remoteFunction(fn: AnalyzedFunction, invoke: Invoke): unknown {
  const handler = async (_ctx: unknown, args: unknown): Promise<Value> => {
    const outcome = JSON.parse(await invoke(fn.name, JSON.stringify(convexToJson([args] as Value)))) as Outcome;
    if ("error" in outcome) throw asError(outcome.error);
    return jsonToConvex(JSON.parse(outcome.value) as JSONValue);
  };
  return analyzed(fn, handler);
}

/** A registered function of which nothing is ever asked but what the analysis says. */
export function analyzed(fn: AnalyzedFunction, handler: (...args: unknown[]) => unknown): unknown {
  return Object.assign((...args: unknown[]) => handler(...args), {
    _handler: handler,
    [`is${fn.udfType}`]: true,
    [fn.visibility.kind === "public" ? "isPublic" : "isInternal"]: true,
    exportArgs: () => fn.args,
    exportReturns: () => fn.returns,
  });
}

function asError({ convexData, name, message, stack, failure }: Extract<Outcome, { error: unknown }>["error"]): Error {
  if (convexData !== undefined) return new ConvexError(jsonToConvex(JSON.parse(convexData) as JSONValue));
  return Object.assign(
    new Error(message),
    name === undefined ? {} : { name },
    stack === undefined ? {} : { stack },
    failure === undefined ? {} : { failure },
  );
}
