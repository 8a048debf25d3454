import { DeployError } from "../../errors.ts";
import type { AnyValidator } from "../../runtime/validator_text.ts";
import { declaredEnv, envMismatch, type EnvDeclared } from "../env_declarations.ts";
import type { ChildComponent } from "../evaluated.ts";
import type { PushRule } from "./rule.ts";

type Declared = ReadonlyMap<string, EnvDeclared>;

/** get-convex/convex-backend crates/application/src/deploy_config.rs */
export const envDeclarationRule: PushRule = (push) => {
  for (const definition of [...push.definitions.values()].sort((a, b) => (a.path < b.path ? -1 : 1))) {
    for (const [name, { validator }] of declaredEnv(definition)) {
      if (isStringLike(validator)) continue;
      const where = definition.path === "" ? "the app" : `component ${definition.path}`;
      throw new DeployError(
        "InvalidEnvVarDeclaration",
        `Env var \`${name}\` on ${where} has a non-string validator. Component env vars must be declared with \`v.string()\`, \`v.literal("...")\`, or a union of those.`,
      );
    }
  }
};

/** get-convex/convex-backend crates/model/src/components/type_checking.rs */
export const envBindingRule: PushRule = (push) => {
  for (const definition of push.definitions.values()) {
    for (const child of definition.export.childComponents) {
      const childDefinition = push.definitions.get(child.path);
      if (childDefinition) checkChild(child, declaredEnv(childDefinition), declaredEnv(definition));
    }
  }
};

function checkChild(child: ChildComponent, declared: Declared, parent: Declared): void {
  const bound = [...(child.env ?? [])].sort(([a], [b]) => (a < b ? -1 : 1));
  for (const [name, binding] of bound) {
    const wanted = declared.get(name);
    if (!wanted) throw mistyped(`Component "${child.name}" has no env var named "${name}"`);
    const what = `Component "${child.name}" env var "${name}"`;
    if (binding.type === "value") {
      const mismatch = envMismatch(wanted, binding.value);
      if (mismatch === null) continue;
      throw mistyped(`Component "${child.name}" has an invalid value for env var "${name}": ${mismatch}`);
    }
    const given = parent.get(binding.name);
    if (!given) throw mistyped(`${what} references undeclared parent env var ${binding.name}`);
    if (given.optional && !wanted.optional) {
      throw mistyped(`${what} is required, but parent env var ${binding.name} is optional`);
    }
    if (!texts(given.validator).every((text) => allows(texts(wanted.validator), text))) {
      throw mistyped(`${what} validator is not satisfied by parent env var ${binding.name} validator`);
    }
  }
  for (const [name, { optional }] of declared) {
    if (optional || bound.some(([other]) => other === name)) continue;
    throw mistyped(`Component "${child.name}" is missing required env var "${name}"`);
  }
}

function isStringLike(validator: AnyValidator): boolean {
  if (validator.type === "union") return validator.value.every(isStringLike);
  return validator.type === "string" || (validator.type === "literal" && typeof validator.value === "string");
}

/** The texts that a validator for strings lets through; null stands for all. */
function texts(validator: AnyValidator): readonly (string | null)[] {
  if (validator.type === "union") return validator.value.flatMap(texts);
  return [validator.type === "literal" ? (validator.value as string) : null];
}

function allows(allowed: readonly (string | null)[], text: string | null): boolean {
  return allowed.includes(null) || allowed.includes(text);
}

function mistyped(message: string): DeployError {
  return new DeployError("TypecheckError", message);
}
