/**
 * Changes of environment variables: get-convex/convex-backend crates/common/src/types/environment_variables.rs,
 * https://docs.convex.dev/production/environment-variables
 */

import { HttpError } from "./errors.ts";

const NAME = /^[a-zA-Z_]+[a-zA-Z0-9_]*$/;
const MAX_NAME_LENGTH = 256;
const MAX_VALUE_BYTES = 8 * 1024;
const MAX_VARIABLES = 512;
const MAX_TOTAL_BYTES = 512 * 1024;
const BUILT_IN: ReadonlySet<string> = new Set(["CONVEX_CLOUD_URL", "CONVEX_SITE_URL"]);

/** The variables that a request sets beside those that there are, and null for those that it removes; throws `HttpError` 400. */
export function environmentChanges(
  changes: unknown,
  current: ReadonlyMap<string, string>,
): ReadonlyMap<string, string | null> {
  if (!Array.isArray(changes)) throw new HttpError(400, "BadJsonBody", "`changes` must be an array");
  const changed = new Map((changes as { name?: unknown; value?: unknown }[]).map(checked));
  const after = [...new Map<string, string | null>([...current, ...changed])].filter(([, value]) => value !== null);
  if (after.length > MAX_VARIABLES) {
    throw refused("EnvVarLimitMet", `The environment variable limit (${MAX_VARIABLES}) has been met.`);
  }
  const total = after.reduce((sum, [name, value]) => sum + name.length + Buffer.byteLength(value!), 0);
  if (total > MAX_TOTAL_BYTES) {
    throw refused(
      "EnvVarTotalSizeLimitMet",
      `The total size of all environment variables (${total} bytes) exceeds the limit (${MAX_TOTAL_BYTES} bytes).`,
    );
  }
  return changed;
}

function checked({ name: given, value }: { name?: unknown; value?: unknown }): [string, string | null] {
  const name = String(given);
  const text = typeof value === "string" ? value : null;
  if (!NAME.test(name)) {
    throw refused(
      "EnvironmentVariableNameInvalid",
      `The environment variable name ${name} is invalid. Environment variable names must begin with a letter and may only include characters a-z, A-Z, 0-9, and underscores.`,
    );
  }
  if (name.length > MAX_NAME_LENGTH) {
    throw refused(
      "EnvironmentVariableNameTooLong",
      `The environment variable name ${name} is too long. Environment variable names must be less than ${MAX_NAME_LENGTH}.`,
    );
  }
  const size = Buffer.byteLength(text ?? "");
  if (size > MAX_VALUE_BYTES) {
    throw refused(
      "EnvironmentVariableValueTooLarge",
      `The environment variable value is ${size} bytes, which is too large. (max size: ${MAX_VALUE_BYTES}`,
    );
  }
  if (text !== null && BUILT_IN.has(name)) {
    const message = `Environment variable with name "${name}" is built-in and cannot be overridden`;
    throw refused("EnvVarNameForbidden", message);
  }
  return [name, text];
}

function refused(code: string, message: string): HttpError {
  return new HttpError(400, code, message);
}
