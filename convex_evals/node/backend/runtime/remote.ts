/** Functions that run in another process. */

import { ConvexError, jsonToConvex, type JSONValue } from "convex/values";
import type { Outcome } from "../node_messages.ts";
import type { AnalyzedFunction } from "../runtime_types.ts";

// Code of the app has none of these in hand.
const registered = new Set<unknown>();

type Invoke = (name: string, args: string) => Promise<string>;

/** A module whose functions are what the analysis (JSON text) says, and run where `invoke` runs them: it returns an `Outcome` as JSON text. */
export function remoteModule(functionsJson: string, invoke: Invoke): object {
  const module = Object.create(null) as Record<string, unknown>;
  for (const fn of JSON.parse(functionsJson) as AnalyzedFunction[]) module[fn.name] = remoteFunction(fn, invoke);
  return module;
}

function remoteFunction(fn: AnalyzedFunction, invoke: Invoke): unknown {
  return analyzed(fn, async (args) => {
    const outcome = JSON.parse(await invoke(fn.name, args)) as Outcome;
    if ("error" in outcome) throw asError(outcome.error);
    return outcome.value;
  });
}

/**
 * A registered function of which nothing is ever asked but what the analysis says. `invoke` is what Convex calls of it:
 * it takes the arguments, and returns the result, as JSON text.
 */
export function analyzed(fn: AnalyzedFunction, invoke: (args: string, requestId?: string) => unknown): unknown {
  const invoked = async (args: string, requestId?: string): Promise<string> => {
    const result = await invoke(args, requestId);
    if (typeof result !== "string") throw new Error(`${fn.name} did not return the text of its result`);
    return result;
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

/** Whether `handler` is of a function that the analysis has seen. */
export function isRegistered(handler: unknown): boolean {
  return registered.has(handler);
}

function asError({ convexData, name, message, stack, failure }: Extract<Outcome, { error: unknown }>["error"]): Error {
  // The library makes a text of the data on its way out of a function.
  if (convexData !== undefined) {
    return Object.assign(new ConvexError(jsonToConvex(JSON.parse(convexData) as JSONValue)), { data: convexData });
  }
  return Object.assign(
    new Error(message),
    name === undefined ? {} : { name },
    stack === undefined ? {} : { stack },
    failure === undefined ? {} : { failure },
  );
}
