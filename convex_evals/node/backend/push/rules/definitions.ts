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
