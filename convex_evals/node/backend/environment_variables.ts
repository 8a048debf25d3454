/**
 * Changes of environment variables: get-convex/convex-backend crates/common/src/types/environment_variables.rs,
 * crates/application/src/lib.rs, https://docs.convex.dev/production/environment-variables
 */

import type { App } from "./app/app.ts";
import type { Deployment } from "./app/deployment.ts";
import { HttpError, InvalidAuthConfig } from "./errors.ts";
import { declaredEnv, envMismatch, type EnvDeclared } from "./push/env_declarations.ts";
import type { EvaluatedDefinition } from "./push/evaluated.ts";
import { checkAuthConfig } from "./push/rules/auth_config.ts";

const NAME = /^[a-zA-Z_]+[a-zA-Z0-9_]*$/;
const MAX_NAME_LENGTH = 256;
const MAX_VALUE_BYTES = 8 * 1024;
const MAX_VARIABLES = 512;
const MAX_TOTAL_BYTES = 512 * 1024;
const BUILT_IN: ReadonlySet<string> = new Set(["CONVEX_CLOUD_URL", "CONVEX_SITE_URL"]);

type Changes = ReadonlyMap<string, string | null>;

/** Sets and removes variables as a request asks, all or none; throws `HttpError` 400. */
export async function changeEnvironment(app: App, requested: unknown): Promise<void> {
  const changes = changesOf(requested);
  for (;;) {
    const { deployment, environment } = app;
    const before = environment.user;
    if (deployment) checkDeclared(deployment.push.app.definition, changes);
    checkLimits(before, changes);
    const authConfig = deployment && (await authConfigAfter(deployment, environment.valuesAfter(changes)));
    // Another change or push came in between: what was checked is no more.
    if (app.deployment !== deployment || environment.user !== before) continue;
    app.setEnvironmentVariables(changes);
    if (deployment) deployment.authConfig = authConfig;
    return;
  }
}

/** Throws where `deployment` cannot run with these variables: get-convex/convex-backend crates/application/src/deploy_config.rs */
export function checkVariables({ push }: Deployment, variables: ReadonlyMap<string, string>): void {
  const declared = declaredEnv(push.app.definition);
  const missing = [...declared].filter(([name, { optional }]) => !optional && !variables.has(name));
  if (missing.length > 0) {
    const names = missing.map(([name]) => name).join(", ");
    throw refused(
      "MissingEnvironmentVariables",
      `Required environment variables are not set: ${names}. Set them in the Convex dashboard or CLI before pushing.`,
    );
  }
  checkValues(declared, variables);
}

// Removals come first, then what is set, by name and value: of two values for one variable, the greater one stays.
function changesOf(requested: unknown): Changes {
  if (!Array.isArray(requested)) throw new HttpError(400, "BadJsonBody", "`changes` must be an array");
  const changes = (requested as { name?: unknown; value?: unknown }[]).map(checked);
  const removed = changes.filter(([, value]) => value === null);
  const set = changes.filter((change): change is [string, string] => change[1] !== null);
  return new Map([...removed, ...set.sort(([a, x], [b, y]) => compareTexts(a, b) || compareTexts(x, y))]);
}

function compareTexts(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

function checkDeclared(definition: EvaluatedDefinition, changes: Changes): void {
  const declared = declaredEnv(definition);
  const required = [...declared].filter(([name, { optional }]) => !optional && changes.get(name) === null);
  if (required.length > 0) {
    const names = required.map(([name]) => name).join(", ");
    throw refused(
      "RequiredEnvironmentVariable",
      `Cannot delete required environment variables: ${names}. These are declared as required in the app definition.`,
    );
  }
  checkValues(declared, changes);
}

function checkValues(declared: ReadonlyMap<string, EnvDeclared>, values: Changes): void {
  for (const [name, value] of [...values].sort(([a], [b]) => compareTexts(a, b))) {
    const declaration = declared.get(name);
    const mismatch = declaration && value !== null ? envMismatch(declaration, value) : null;
    if (mismatch === null) continue;
    throw refused(
      "InvalidEnvironmentVariable",
      `Environment variable ${name} does not match its declared validator: ${mismatch}`,
    );
  }
}

function checkLimits(current: ReadonlyMap<string, string>, changes: Changes): void {
  for (const [name, value] of changes) {
    if (value === null || !BUILT_IN.has(name)) continue;
    const message = `Environment variable with name "${name}" is built-in and cannot be overridden`;
    throw refused("EnvVarNameForbidden", message);
  }
  const after = [...new Map<string, string | null>([...current, ...changes])].filter(([, value]) => value !== null);
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
}

async function authConfigAfter({ push }: Deployment, env: Readonly<Record<string, string>>): Promise<unknown> {
  try {
    const config = await push.authConfigWith(env);
    checkAuthConfig(config);
    return config;
  } catch (error) {
    if (!(error instanceof InvalidAuthConfig)) throw error;
    throw new InvalidAuthConfig(error.reason, "This change would make the auth config invalid");
  }
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
  return [name, text];
}

function refused(code: string, message: string): HttpError {
  return new HttpError(400, code, message);
}
