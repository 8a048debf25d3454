/** Checked access to the arguments of a system function. */

import type { JsonValue } from "../runtime_types.ts";
import { SystemFunctionError, type SystemArgs } from "./system_function.ts";

export function stringArg(args: SystemArgs, name: string): string {
  const value = args[name];
  if (typeof value !== "string") throw missing(name, "v.string()");
  return value;
}

export function numberArg(args: SystemArgs, name: string): number {
  const value = args[name];
  if (typeof value !== "number") throw missing(name, "v.float64()");
  return value;
}

export function listArg(args: SystemArgs, name: string): JsonValue[] {
  const value = args[name];
  if (!Array.isArray(value)) throw missing(name, "v.array(v.any())");
  return value;
}

export interface PageRequest {
  readonly cursor: string | null;
  readonly numItems: number;
}

/** `paginationOpts` of paginated system queries. */
export function pageArg(args: SystemArgs): PageRequest {
  const options = args["paginationOpts"];
  if (typeof options !== "object" || options === null || Array.isArray(options)) {
    throw missing("paginationOpts", "paginationOptsValidator");
  }
  const { cursor, numItems } = options;
  return {
    cursor: typeof cursor === "string" ? cursor : null,
    numItems: typeof numItems === "number" ? numItems : 100,
  };
}

function missing(name: string, validator: string): SystemFunctionError {
  return new SystemFunctionError(
    `ArgumentValidationError: Value does not match validator.\nPath: .${name}\nValidator: ${validator}`,
  );
}
