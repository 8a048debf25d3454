/** What may be exported as a Convex function. */

import { DeployError, invalidModules } from "../../errors.ts";
import type { EvaluatedModule } from "../evaluated.ts";
import type { AnalyzedFunction, ValidatorJson } from "../../runtime_types.ts";
import { identifierProblem } from "../../identifiers.ts";
import type { PushRule } from "./rule.ts";
import { checkValidator } from "./validators.ts";

function forEachFunction(check: (module: EvaluatedModule, fn: AnalyzedFunction) => void): PushRule {
  return (push) => {
    for (const definition of push.definitions.values()) {
      for (const module of definition.modules) for (const fn of module.inspection.functions) check(module, fn);
    }
  };
}

/** get-convex/convex-backend crates/sync_types/src/identifier.rs, crates/model/src/modules/module_versions.rs */
export const functionNameRule = forEachFunction((_module, fn) => {
  const problem = identifierProblem(fn.name);
  if (problem !== null) throw new DeployError("InvalidFunctionName", `Invalid function name: ${problem}`);
});

/** https://docs.convex.dev/functions/runtimes#nodejs-runtime */
export const nodeActionRule = forEachFunction((module, fn) => {
  if (module.config.environment === "node" && fn.udfType !== "Action") {
    throw invalidModules(
      `\`${fn.name}\` defined in \`${module.config.path}\` is a ${fn.udfType} function. Only actions can be defined in Node.js. See https://docs.convex.dev/functions/actions for more details.`,
    );
  }
});

/** get-convex/convex-backend crates/isolate/src/environment/analyze.rs, crates/model/src/modules/function_validators.rs */
export const validatorRule = forEachFunction((module, fn) => {
  const where = `${module.config.path}:${fn.name}`;
  const args = parse(fn.args, `${where}.exportArgs()`);
  if (args && args.type !== "object" && args.type !== "any") {
    throw invalidModules(`Invalid JSON returned from ${where}.exportArgs(): Args validator must be an object or any`);
  }
  parse(fn.returns, `${where}.exportReturns()`);
});

function parse(text: string, where: string): ValidatorJson | null {
  const complain = (reason: string): never => {
    throw invalidModules(`Invalid JSON returned from ${where}: ${reason}`);
  };
  let validator: ValidatorJson | null = null;
  try {
    validator = JSON.parse(text) as ValidatorJson | null;
    if (validator) checkValidator(validator);
  } catch (error) {
    complain((error as Error).message);
  }
  return validator;
}
