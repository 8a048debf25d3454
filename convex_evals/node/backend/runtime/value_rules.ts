/** Validation of arguments, return values and documents. */

import { getConvexSize, type Value } from "convex/values";
import { formatBytes, isNestedDeeper, MAX_VALUE_NESTING } from "./document_limits.ts";
import { canonicalPath } from "./function_paths.ts";

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

export function checkArguments(
  validator: unknown,
  value: unknown,
  path: { udfPath: string },
  validate: Validate,
): void {
  checkArgumentsNesting(value, path);
  checkArgumentsSize(value, path);
  reportAs("ArgumentValidationError", () => validate(validator, value));
}

const MAX_ARGUMENTS_BYTES = 16 << 20;
const MAX_RESULT_BYTES = 16 << 20;

// The arguments are a list of one value, which counts: get-convex/convex-backend crates/udf/src/helpers.rs (parse_udf_args)
function checkArgumentsNesting(value: unknown, path: { udfPath: string }): void {
  if (!isNestedDeeper([value], MAX_VALUE_NESTING)) return;
  // It is counted from the inside, so that the first level too many is the one that is told of.
  throw new Error(
    `Invalid arguments for ${canonicalPath(path)}: Value is too nested (nested ${MAX_VALUE_NESTING + 1} levels deep > maximum nesting ${MAX_VALUE_NESTING})`,
  );
}

// get-convex/convex-backend crates/udf/src/helpers.rs (validate_udf_args_size)
function checkArgumentsSize(value: unknown, path: { udfPath: string }): void {
  const size = getConvexSize([value] as Value);
  if (size <= MAX_ARGUMENTS_BYTES) return;
  throw new Error(
    `Arguments for ${canonicalPath(path)} are too large (actual: ${formatBytes(size)}, limit: ${formatBytes(MAX_ARGUMENTS_BYTES)})`,
  );
}

/** get-convex/convex-backend crates/isolate/src/helpers.rs (deserialize_udf_result) */
export function checkResultSize(result: unknown, path: { udfPath: string }): void {
  const size = getConvexSize(result as Value);
  if (size <= MAX_RESULT_BYTES) return;
  throw new Error(
    `Function ${canonicalPath(path)} return value is too large (actual: ${formatBytes(size)}, limit: ${formatBytes(MAX_RESULT_BYTES)})`,
  );
}

export function checkReturns(validator: unknown, value: unknown, _path: { udfPath: string }, validate: Validate): void {
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
