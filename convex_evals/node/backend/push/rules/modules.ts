/** Paths of modules, and where "use node" is not possible. */

import { HttpError, invalidModules } from "../../errors.ts";
import type { PushRule } from "./rule.ts";

const MAX_COMPONENT_LENGTH = 64;

/** get-convex/convex-backend crates/sync_types/src/path.rs, module_path.rs; crates/model/src/config/types.rs */
export const modulePathRule: PushRule = (push) => {
  for (const definition of push.definitions.values()) {
    const paths = definition.modules.map((module) => module.config.path);
    for (const path of paths) checkPath(path);
    // What is said of one must not be said of another.
    const twice = paths.find((path, index) => paths.indexOf(path) !== index);
    if (twice !== undefined) throw new HttpError(400, "InvalidConfig", `${twice} is pushed twice.`);
  }
};

// Refused while the request is read: not "an error while pushing".
function checkPath(path: string): void {
  const problems = [extensionProblem(path), ...path.split("/").map(problemOf)];
  const problem = problems.find((found) => found !== null);
  if (problem === undefined) return;
  throw new HttpError(400, "InvalidConfig", `${path} is not a valid path to a Convex module. ${problem}`);
}

// The official bundler pushes what esbuild makes of style sheets, too.
function extensionProblem(path: string): string | null {
  return path.endsWith(".js") ? null : `Module path (${path}) has an extension that isn't 'js'.`;
}

function problemOf(component: string): string | null {
  if (component.length > MAX_COMPONENT_LENGTH) {
    return `Path component is too long (${component.length} > maximum ${MAX_COMPONENT_LENGTH}).`;
  }
  if (!/^[A-Za-z0-9_.]+$/.test(component)) {
    return `Path component ${component} can only contain alphanumeric characters, underscores, or periods.`;
  }
  if (!/[A-Za-z0-9]/.test(component)) {
    return `Path component ${component} must have at least one alphanumeric character.`;
  }
  return null;
}

const ISOLATE_ONLY = new Set(["http", "crons", "schema", "auth.config", "convex.config"]);

/** https://docs.convex.dev/functions/runtimes#nodejs-runtime; the official bundler says it first */
export const reservedNodeRule: PushRule = (push) => {
  for (const definition of push.definitions.values()) {
    for (const module of definition.modules) {
      if (module.config.environment === "node" && ISOLATE_ONLY.has(module.name)) {
        throw invalidModules(`"use node" directive is not allowed for ${module.config.path}.`);
      }
    }
  }
};
