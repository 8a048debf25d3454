/** Environment variables as an app and its components declare them: https://docs.convex.dev/production/environment-variables */

import { validateValue, ValidationError } from "../runtime/validation.ts";
import type { AnyValidator } from "../runtime/validator_text.ts";
import type { EvaluatedDefinition } from "./evaluated.ts";

export interface EnvDeclared {
  readonly validator: AnyValidator;
  readonly optional: boolean;
}

/** By name, in the order of names. */
export function declaredEnv({ export: { envVars = [] } }: EvaluatedDefinition): ReadonlyMap<string, EnvDeclared> {
  const declared = envVars.map(
    ([name, { value, optional = false }]) =>
      [name, { validator: JSON.parse(value) as AnyValidator, optional }] as const,
  );
  return new Map(declared.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** What is wrong with a variable's value, in Convex's words, or null. */
export function envMismatch({ validator }: EnvDeclared, value: string): string | null {
  try {
    validateValue(validator, value, () => null);
    return null;
  } catch (error) {
    if (error instanceof ValidationError) return error.message;
    throw error;
  }
}
