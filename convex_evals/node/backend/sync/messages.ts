/** From a client's requests to calls of the app, and from outcomes to what the client is told. */

import type { AppCall, CallOutcome } from "../app/call.ts";
import type { Caller } from "../auth.ts";
import { serverErrorText } from "../errors.ts";
import { encodeTimestamp } from "./protocol.ts";
import type { ActionResponse, FunctionRequest, MutationResponse } from "./protocol.ts";

/** How far a client is: its own changes of queries and identity, and the commit that its results show. */
export interface Version {
  readonly querySet: number;
  readonly identity: number;
  readonly ts: bigint;
}

export function callOf(
  type: AppCall["type"],
  request: { readonly udfPath: string; readonly args: FunctionRequest["args"]; readonly componentPath?: string },
  caller: Caller,
): AppCall {
  return {
    type,
    path: request.udfPath,
    componentPath: request.componentPath ?? "",
    args: request.args[0] ?? {},
    caller,
  };
}

/** `latestTs`: of the last commit of all, for a mutation that wrote nothing. */
export function mutationResponse(requestId: number, outcome: CallOutcome, latestTs: bigint): MutationResponse {
  const { result, logLines, commitTs } = outcome;
  const base = { type: "MutationResponse", requestId, logLines } as const;
  if (result.ok) return { ...base, success: true, result: result.value, ts: encodeTimestamp(commitTs ?? latestTs) };
  return { ...base, success: false, result: serverErrorText(result.errorMessage), ...dataOf(result) };
}

export function actionResponse(requestId: number, { result, logLines }: CallOutcome): ActionResponse {
  const base = { type: "ActionResponse", requestId, logLines } as const;
  if (result.ok) return { ...base, success: true, result: result.value };
  return { ...base, success: false, result: serverErrorText(result.errorMessage), ...dataOf(result) };
}

/** Of a mutation that was not even called. */
export function refusedMutation(requestId: number, result: string): MutationResponse {
  return { type: "MutationResponse", requestId, logLines: [], success: false, result };
}

/** The same for an action. */
export function refusedAction(requestId: number, result: string): ActionResponse {
  return { type: "ActionResponse", requestId, logLines: [], success: false, result };
}

function dataOf(result: { errorData?: FunctionRequest["args"][number] }): {
  errorData?: FunctionRequest["args"][number];
} {
  return result.errorData === undefined ? {} : { errorData: result.errorData };
}

/** As clients are told it; they send it back. */
export function encodeVersion(version: Version): { querySet: number; identity: number; ts: string } {
  return { ...version, ts: encodeTimestamp(version.ts) };
}
