/** The tree of components that a push asks for. */

import { DeployError } from "../errors.ts";
import type { ComponentInstance, EvaluatedDefinition } from "./evaluated.ts";

/** The component at `componentPath` with all below it. Throws `DeployError` where the tree has no end. */
export function instantiate(
  componentPath: string,
  definitionPath: string,
  definitions: ReadonlyMap<string, EvaluatedDefinition>,
  ancestors: readonly string[],
): ComponentInstance {
  const definition = definitions.get(definitionPath);
  if (!definition) throw new DeployError("InvalidDefinition", `Component definition ${definitionPath} was not pushed`);
  if (ancestors.includes(definitionPath)) {
    throw new DeployError("InvalidDefinition", `Component definition ${definitionPath} contains itself`);
  }
  const children = new Map<string, ComponentInstance>();
  for (const child of definition.export.childComponents) {
    if (children.has(child.name)) {
      throw new DeployError(
        "TypecheckError",
        `Component "${definitionPath}" has multiple child components with the same name: "${child.name}"`,
      );
    }
    const childPath = componentPath === "" ? child.name : `${componentPath}/${child.name}`;
    children.set(child.name, instantiate(childPath, child.path, definitions, [...ancestors, definitionPath]));
  }
  return { componentPath, definition, children };
}
