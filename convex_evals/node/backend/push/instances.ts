/** The tree of components that a push asks for. */

import { DeployError } from "../errors.ts";
import type { ComponentInstance, EvaluatedDefinition } from "./evaluated.ts";

/** An instance whose modules are being evaluated. */
export interface LoadingInstance extends ComponentInstance {
  readonly children: ReadonlyMap<string, LoadingInstance>;
  readonly namespaces: Map<string, object>;
}

/** The component at `componentPath` with all below it. Throws `DeployError` where the tree has no end. */
export function instantiate(
  componentPath: string,
  definitionPath: string,
  definitions: ReadonlyMap<string, EvaluatedDefinition>,
  ancestors: readonly string[],
): LoadingInstance {
  const definition = definitions.get(definitionPath);
  if (!definition) throw new DeployError("InvalidDefinition", `Component definition ${definitionPath} was not pushed`);
  if (ancestors.includes(definitionPath)) {
    throw new DeployError("InvalidDefinition", `Component definition ${definitionPath} contains itself`);
  }
  const children = new Map<string, LoadingInstance>();
  for (const child of definition.export.childComponents) {
    if (children.has(child.name)) {
      throw new DeployError("InvalidDefinition", `Duplicate child component name: ${child.name}`);
    }
    const childPath = componentPath === "" ? child.name : `${componentPath}/${child.name}`;
    children.set(child.name, instantiate(childPath, child.path, definitions, [...ancestors, definitionPath]));
  }
  const own = componentPath === "" ? definition.modules.map((module) => [module.name, module.namespace] as const) : [];
  return { componentPath, definition, children, namespaces: new Map(own) };
}
