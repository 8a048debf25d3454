/** What may be exported as a Convex function. */

import { DeployError, invalidModules } from "../../errors.ts";
import type { EvaluatedModule } from "../evaluated.ts";
import type { AnalyzedFunction, ValidatorJson } from "../../app/runtime_types.ts";
import type { DeployRule } from "./rule.ts";

function forEachFunction(check: (module: EvaluatedModule, fn: AnalyzedFunction) => void): DeployRule {
  return (push) => {
    for (const definition of push.definitions.values()) {
      for (const module of definition.modules) for (const fn of module.inspection.functions) check(module, fn);
    }
  };
}

/** get-convex/convex-backend crates/sync_types/src/identifier.rs */
export const functionNameRule = forEachFunction((module, fn) => {
  if (!/^[A-Za-z_][A-Za-z0-9_]{0,63}$/.test(fn.name)) {
    throw new DeployError("InvalidFunctionName", `Invalid function name: ${fn.name} in ${module.config.path}. Identifiers must start with an alphabetic character or underscore and can only contain letters, digits and underscores.`);
  }
});

/** https://docs.convex.dev/functions/runtimes#nodejs-runtime */
export const nodeActionRule = forEachFunction((module, fn) => {
  if (module.config.environment === "node" && fn.udfType !== "Action") {
    throw invalidModules(
      `\`${fn.name}\` defined in \`${module.config.path}\` is a ${fn.udfType} function. Only actions can be defined in Node.js. See https://docs.convex.dev/functions/actions for more details.`,
    );
  }
});

/** get-convex/convex-backend crates/isolate/src/environment/analyze.rs */
export const validatorRule = forEachFunction((module, fn) => {
  const where = `${module.config.path}:${fn.name}`;
  const args = parseValidator(fn.args, `${where}.exportArgs()`);
  if (args && args.type !== "object" && args.type !== "any") {
    throw invalidModules(`Invalid JSON returned from \`${where}.exportArgs()\`: Args validator must be an object or any`);
  }
  parseValidator(fn.returns, `${where}.exportReturns()`);
});

function parseValidator(text: string, where: string): ValidatorJson | null {
  try {
    return JSON.parse(text) as ValidatorJson | null;
  } catch {
    throw invalidModules(`Invalid JSON returned from \`${where}\``);
  }
}
