/** One call of a function: what is asked, which function that is, and what came of it. */

import type { Caller } from "../auth.ts";
import type { ReadSet } from "../data_store.ts";
import { jsonProblem } from "../json_text.ts";
import { splitUdfPath } from "../push/evaluated.ts";
import type { FunctionCall, FunctionResult, FunctionType, JsonValue } from "../runtime_types.ts";
import type { CallRecord } from "./call_record.ts";
import type { Deployment } from "./deployment.ts";

export interface AppCall {
  /** "any": whatever the function is. */
  readonly type: FunctionType | "any";
  readonly path: string;
  readonly componentPath: string;
  readonly args: JsonValue;
  readonly caller: Caller;
  readonly journal?: string | null;
}

export interface CallOutcome {
  readonly result: FunctionResult;
  readonly logLines: readonly string[];
  readonly readSet: ReadSet;
  readonly journal: string | null;
  /** Of the mutation's commit; null for queries, actions and failures. */
  readonly commitTs: bigint | null;
}

/** The function that a call means, as the runtime is asked for it; or the answer to who may not call it so. */
export function resolveCall(
  call: AppCall,
  deployment: Deployment | null,
): { readonly deployment: Deployment; readonly request: FunctionCall } | { readonly refused: FunctionResult } {
  // get-convex/convex-backend crates/value/src/serialized_args_ext.rs
  if (jsonProblem(JSON.stringify(call.args)) !== null) {
    return { refused: { ...failure("Invalid arguments provided"), refusal: "InvalidArguments" } };
  }
  const [moduleName, functionName] = splitUdfPath(call.path);
  const udfPath = `${moduleName}:${functionName}`;
  const isAdmin = call.caller.kind === "admin";
  const fn = isAdmin || call.componentPath === "" ? deployment?.function(call.componentPath, udfPath) : null;
  if (!fn || !deployment || (fn.visibility.kind === "internal" && !isAdmin)) {
    return refusal(
      `Could not find ${isAdmin ? "" : "public "}function for '${displayPath(moduleName, functionName)}'. Did you forget to run \`npx convex dev\` or \`npx convex deploy\`?`,
    );
  }
  const type = fn.udfType.toLowerCase() as FunctionType;
  if (call.type !== "any" && call.type !== type) {
    const wanted = call.type.charAt(0).toUpperCase() + call.type.slice(1);
    return refusal(
      `Trying to execute ${moduleName}.js:${functionName} as ${wanted}, but it is defined as ${fn.udfType}.`,
    );
  }
  const { componentPath, args, caller } = call;
  return { deployment, request: { type, componentPath, udfPath, args, identity: caller.identity } };
}

function refusal(errorMessage: string): { refused: FunctionResult } {
  return { refused: failure(errorMessage) };
}

export function noComponent(componentPath: string): FunctionResult {
  return failure(`Component "${componentPath}" does not exist.`);
}

function failure(errorMessage: string): Extract<FunctionResult, { ok: false }> {
  return { ok: false, errorMessage };
}

function displayPath(moduleName: string, functionName: string): string {
  return functionName === "default" ? moduleName : `${moduleName}:${functionName}`;
}

export function outcomeOf(result: FunctionResult, record: CallRecord): CallOutcome {
  return {
    result,
    logLines: record.logLines,
    readSet: record.readSet,
    journal: record.journal,
    commitTs: result.ok ? record.commitTs : null,
  };
}
