/** Evaluates `auth.config`: get-convex/convex-backend crates/isolate/src/environment/auth_config.rs */

import { DeployError, InvalidAuthConfig } from "../errors.ts";
import type { Environment } from "../realm/environment.ts";
import type { AppCode } from "./app_code.ts";
import { identifier } from "./module_ids.ts";
import type { ModuleConfig } from "./request.ts";

// What inspection says of a module without a default export.
const MISSING_EXPORT = "";

/** Its default export. `failing` runs the evaluation, and says in its own words how it fails. */
export async function evaluateAuthConfig(
  code: AppCode,
  module: ModuleConfig,
  env: Environment | undefined,
  failing: (run: () => Promise<string>) => Promise<string>,
): Promise<unknown> {
  let missing: string | null = null;
  const evaluated = failing(() =>
    code
      .analysis({ ...(env ? { env } : {}), missing: (name) => (missing ??= name) })
      .inspect(identifier("", module.path), "authConfig"),
  );
  const text = await evaluated.finally(() => {
    // In Convex it is the lookup that fails, before anything that comes of it.
    if (missing === null) return;
    throw new DeployError(
      "AuthConfigMissingEnvironmentVariable",
      `Environment variable ${missing} is used in auth config file but its value was not set`,
    );
  });
  if (text === MISSING_EXPORT) {
    throw new InvalidAuthConfig(
      "auth config file is missing default export. To learn more, see the auth documentation at https://docs.convex.dev/auth.",
    );
  }
  return JSON.parse(text) as unknown;
}
