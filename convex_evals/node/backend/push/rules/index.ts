/** Every rule that the server applies to a push, in the order of Convex's checks. */

import type { EvaluatedPush } from "../evaluated.ts";
import { authConfigRule } from "./auth_config.ts";
import { cronRule } from "./crons.ts";
import { componentNameRule } from "./definitions.ts";
import { envBindingRule, envDeclarationRule } from "./environment.ts";
import { functionNameRule, nodeActionRule, validatorRule } from "./functions.ts";
import { httpRule, mountRule } from "./http.ts";
import { modulePathRule, reservedNodeRule } from "./modules.ts";
import type { PushRule } from "./rule.ts";
import { schemaRule } from "./schema.ts";

const RULES: Readonly<Record<string, PushRule>> = {
  componentNames: componentNameRule,
  authConfig: authConfigRule,
  envDeclarations: envDeclarationRule,
  envBindings: envBindingRule,
  modulePaths: modulePathRule,
  reservedNodeModules: reservedNodeRule,
  functionNames: functionNameRule,
  nodeActions: nodeActionRule,
  validators: validatorRule,
  http: httpRule,
  mounts: mountRule,
  crons: cronRule,
  schemas: schemaRule,
};

/** Throws the first `DeployError` that a rule finds. */
export function checkPush(push: EvaluatedPush): void {
  for (const rule of Object.values(RULES)) rule(push);
}
