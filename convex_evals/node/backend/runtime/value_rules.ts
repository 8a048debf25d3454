/** Validation of arguments, return values and documents. */

import { getConvexSize, type Value } from "convex/values";
import { jsonProblem } from "../json_text.ts";
import { formatBytes } from "./document_limits.ts";
import { canonicalPath } from "./function_paths.ts";
import { checkValue } from "./value_limits.ts";

type Validate = (validator: unknown, value: unknown) => void;

/** The kinds of failure that Convex names in the error text instead of "Uncaught Error". */
export type NamedFailure = "ArgumentValidationError" | "ReturnsValidationError";

/** A failure that carries the name under which Convex reports it. */
export class NamedError extends Error {
  readonly failure: NamedFailure;

  constructor(failure: NamedFailure, message: string) {
    super(`${failure}: ${message}`);
    this.failure = failure;
  }
}

/** A failure that Convex reports by its message alone; `refusal` is its code where it refuses the whole request. */
function refused(message: string, refusal?: string): Error {
  return Object.assign(new Error(message), { failure: "refused", ...(refusal === undefined ? {} : { refusal }) });
}

/** Arguments of a syscall. get-convex/convex-backend crates/isolate/src/execution_scope.rs */
export function syscallArguments(text: string): unknown {
  const problem = jsonProblem(text);
  if (problem !== null) throw new Error(`Received invalid json: ${problem}`);
  return JSON.parse(text);
}

/** What a function returned. get-convex/convex-backend crates/isolate/src/helpers.rs (deserialize_udf_result) */
export function resultOf(text: string, path: FunctionPath): unknown {
  const problem = jsonProblem(text);
  if (problem === null) return JSON.parse(text);
  throw refused(
    `Function ${canonicalPath(path)} failed. Could not parse return value as json: ${problem}`,
    "FunctionReturnInvalidJson",
  );
}

const MAX_ARGUMENTS_BYTES = 16 << 20;
const MAX_RESULT_BYTES = 16 << 20;

interface FunctionPath {
  readonly udfPath: string;
}

export function checkArguments(validator: unknown, value: unknown, path: FunctionPath, validate: Validate): void {
  checkArgumentsValue(value, path);
  checkArgumentsSize(value, path);
  reportAs("ArgumentValidationError", () => validate(validator, value));
}

/**
 * Refuses arguments that are no values. They are a list of one value, which counts.
 * get-convex/convex-backend crates/udf/src/helpers.rs (parse_udf_args)
 */
export function checkArgumentsValue(value: unknown, path: FunctionPath): void {
  checkValue([value], (reason) => refused(`Invalid arguments for ${canonicalPath(path)}: ${reason}`));
}

/**
 * Refuses what a query or mutation calls another one with, before it is known which one that is.
 * get-convex/convex-backend crates/isolate/src/environment/udf/async_syscall.rs (run_udf)
 */
export function checkNestedArguments(value: unknown): void {
  checkValue(value, (reason) => new Error(`Invalid argument \`args\` for \`runUdf\`: ${reason}`));
  checkValue([value], (reason) => new Error(reason));
}

// get-convex/convex-backend crates/udf/src/helpers.rs (validate_udf_args_size)
function checkArgumentsSize(value: unknown, path: FunctionPath): void {
  const size = getConvexSize([value] as Value);
  if (size <= MAX_ARGUMENTS_BYTES) return;
  throw refused(
    `Arguments for ${canonicalPath(path)} are too large (actual: ${formatBytes(size)}, limit: ${formatBytes(MAX_ARGUMENTS_BYTES)})`,
  );
}

/** get-convex/convex-backend crates/isolate/src/helpers.rs (deserialize_udf_result) */
export function checkResult(result: unknown, path: FunctionPath): void {
  checkValue(result, (reason) => refused(`Function ${canonicalPath(path)} return value invalid: ${reason}`));
  const size = getConvexSize(result as Value);
  if (size <= MAX_RESULT_BYTES) return;
  throw refused(
    `Function ${canonicalPath(path)} return value is too large (actual: ${formatBytes(size)}, limit: ${formatBytes(MAX_RESULT_BYTES)})`,
  );
}

/** Returns the fault of an error's data, or null. crates/isolate/src/helpers.rs (deserialize_udf_custom_error) */
export function errorDataProblem(data: unknown): Error | null {
  try {
    checkValue(data, (reason) => refused(`ConvexError with invalid data: ${reason}`));
    return null;
  } catch (error) {
    return error as Error;
  }
}

export function checkReturns(validator: unknown, value: unknown, _path: FunctionPath, validate: Validate): void {
  reportAs("ReturnsValidationError", () => validate(validator, value));
}

export function checkAgainstSchema(table: string, validator: unknown, document: unknown, validate: Validate): void {
  try {
    validate(validator, document);
  } catch (error) {
    throw new Error(
      `Failed to insert or update a document in table "${table}" because it does not match the schema: ${(error as Error).message}`,
    );
  }
}

function reportAs(failure: NamedFailure, check: () => void): void {
  try {
    check();
  } catch (error) {
    throw new NamedError(failure, (error as Error).message);
  }
}
