/** A push after its modules have run once: what the rules and the response are made from. */

import type { AnalyzedFunction, ModuleInspection, SchemaJson } from "../runtime_types.ts";
import type { AppCode } from "./app_code.ts";
import type { EnvBinding, Environment } from "../realm/environment.ts";
import type { DefinitionConfig, ModuleConfig } from "./request.ts";

export type ComponentExports =
  | { readonly type: "leaf"; readonly leaf: string }
  | { readonly type: "branch"; readonly branch: readonly (readonly [string, ComponentExports])[] };

export interface ChildComponent {
  readonly name: string;
  readonly path: string;
  readonly args?: readonly unknown[];
  readonly env?: readonly (readonly [string, EnvBinding])[] | null;
}

export type EnvDeclaration = readonly [
  string,
  { readonly type: "value"; readonly value: string; readonly optional?: boolean },
];

/** `defineApp().export()` or `defineComponent().export()`. */
export interface DefinitionExport {
  readonly name?: string;
  readonly definitionType:
    | { readonly type: "app"; readonly httpPrefix?: string }
    | { readonly type: "childComponent"; readonly name: string };
  readonly httpPrefix?: string;
  readonly childComponents: readonly ChildComponent[];
  readonly httpMounts: Readonly<Record<string, string>>;
  readonly exports: ComponentExports;
  readonly envVars?: readonly EnvDeclaration[];
}

export interface EvaluatedModule {
  readonly config: ModuleConfig;
  /** Path without extension: "dir/messages". */
  readonly name: string;
  readonly inspection: ModuleInspection;
}

/** The app or one component definition. */
export interface EvaluatedDefinition {
  readonly path: string;
  readonly config: DefinitionConfig;
  readonly export: DefinitionExport;
  readonly schema: SchemaJson | null;
  readonly modules: readonly EvaluatedModule[];
  readonly authConfig: unknown;
}

/** One instance of a definition in the tree of components. */
export interface ComponentInstance {
  /** "" for the app, "parent/child" below. */
  readonly componentPath: string;
  readonly definition: EvaluatedDefinition;
  readonly children: ReadonlyMap<string, ComponentInstance>;
}

export interface EvaluatedPush {
  readonly definitions: ReadonlyMap<string, EvaluatedDefinition>;
  readonly app: ComponentInstance;
  readonly code: AppCode;
  /** What `auth.config` exports where these are the variables; null without one. Rejects with `DeployError`. */
  authConfigWith(env: Environment): Promise<unknown>;
}

/** The app and everything mounted below it. */
export function* allComponents(root: ComponentInstance): Generator<ComponentInstance> {
  yield root;
  for (const child of root.children.values()) yield* allComponents(child);
}

/** Finds the function behind `module:name`, or null. */
export function findFunction(definition: EvaluatedDefinition, udfPath: string): AnalyzedFunction | null {
  const [moduleName, functionName] = splitUdfPath(udfPath);
  const module = definition.modules.find((candidate) => candidate.name === moduleName);
  return module?.inspection.functions.find((fn) => fn.name === functionName) ?? null;
}

/** "messages.js:list" -> ["messages", "list"]; without a name, "default". */
export function splitUdfPath(udfPath: string): [module: string, name: string] {
  const at = udfPath.lastIndexOf(":");
  const [module, name] = at < 0 ? [udfPath, "default"] : [udfPath.slice(0, at), udfPath.slice(at + 1)];
  return [module.replace(/\.js$/, ""), name];
}
