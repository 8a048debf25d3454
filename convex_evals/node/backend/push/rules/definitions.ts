import { DeployError } from "../../errors.ts";
import type { PushRule } from "./rule.ts";

/** https://docs.convex.dev/components/authoring */
export const componentNameRule: PushRule = (push) => {
  for (const definition of push.definitions.values()) {
    const { definitionType, childComponents } = definition.export;
    if ((definition.path === "") !== (definitionType.type === "app")) {
      const expected = definition.path === "" ? "defineApp()" : "defineComponent()";
      throw new DeployError(
        "InvalidDefinition",
        `${definition.path || "The app's"} convex.config must default export the result of \`${expected}\``,
      );
    }
    for (const name of [
      ...(definitionType.type === "childComponent" ? [definitionType.name] : []),
      ...childComponents.map((child) => child.name),
    ]) {
      if (!/^[A-Za-z_][A-Za-z0-9_]{0,63}$/.test(name)) {
        throw new DeployError("InvalidDefinition", `Invalid component name: "${name}"`);
      }
    }
  }
};

/** Every environment variable that a component requires is bound where it is used. */
export const environmentRule: PushRule = (push) => {
  for (const definition of push.definitions.values()) {
    for (const child of definition.export.childComponents) {
      const declared = push.definitions.get(child.path)?.export.envVars ?? [];
      const bound = new Set((child.env ?? []).map(([name]) => name));
      const missing = declared.filter(([name, declaration]) => !declaration.optional && !bound.has(name));
      if (missing.length === 0) continue;
      throw new DeployError(
        "InvalidDefinition",
        `Component ${child.name} requires environment variables that are not bound: ${missing.map(([name]) => name).join(", ")}`,
      );
    }
  }
};
