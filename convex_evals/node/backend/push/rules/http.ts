import { DeployError, invalidModules } from "../../errors.ts";
import type { EvaluatedDefinition } from "../evaluated.ts";
import type { HttpRouteSpec } from "../../runtime_types.ts";
import type { PushRule } from "./rule.ts";

/** get-convex/convex-backend crates/isolate/src/environment/analyze.rs (http_analyze) */
export const httpRule: PushRule = (push) => {
  for (const definition of push.definitions.values()) {
    const http = definition.modules.find((module) => module.name === "http");
    if (!http) continue;
    if (http.inspection.defaultExport === "missing") {
      throw invalidModules("`convex/http.js` must have a default export of a Router.");
    }
    if (http.inspection.defaultExport !== "router") {
      throw invalidModules("The default export of `convex/http.js` is not a Router.");
    }
  }
};

/** Components are mounted where they have routes, and where nothing else is. get-convex/convex-backend crates/model/src/components/type_checking.rs */
export const mountRule: PushRule = (push) => {
  for (const definition of push.definitions.values()) {
    const prefixes = routesOf(definition).flatMap(({ path }) => (path.endsWith("*") ? [path.slice(0, -1)] : []));
    for (const [prefix, reference] of Object.entries(definition.export.httpMounts)) {
      const name = reference.replace(/^_reference\/childComponent\//, "");
      const path = definition.export.childComponents.find((child) => child.name === name)?.path;
      const child = path === undefined ? undefined : push.definitions.get(path);
      if (child && routesOf(child).length === 0 && Object.keys(child.export.httpMounts).length === 0) {
        throw invalidMount(prefix, `Child component "${name}" doesn't have any HTTP routes.`);
      }
      if (prefixes.includes(prefix)) throw invalidMount(prefix, "Overlap with existing prefix route");
    }
  }
};

function routesOf(definition: EvaluatedDefinition): readonly HttpRouteSpec[] {
  return definition.modules.find((module) => module.name === "http")?.inspection.httpRoutes ?? [];
}

function invalidMount(prefix: string, reason: string): DeployError {
  return new DeployError("TypecheckError", `HTTP mount "${prefix}" is invalid: ${reason}`);
}
