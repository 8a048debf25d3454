/** The body that `start_push` answers: `StartPushResponse` of the official CLI. */

import type { IndexJson, SchemaJson } from "../runtime_types.ts";
import { CONVEX_VERSION } from "../versions.ts";
import type {
  ComponentExports,
  ComponentInstance,
  EvaluatedDefinition,
  EvaluatedModule,
  EvaluatedPush,
} from "./evaluated.ts";
import { indexDiffs } from "./index_diff.ts";

type Json = Record<string, unknown>;

/** `pushId` comes back in `finish_push`, inside `schemaChange`. */
export function startPushResponse(
  push: EvaluatedPush,
  previous: EvaluatedPush | null,
  pushId: string,
  environment: ReadonlyMap<string, string>,
): Json {
  const paths = [...push.definitions.keys()].sort();
  return {
    environmentVariables: Object.fromEntries(environment),
    externalDepsId: null,
    componentDefinitionPackages: {},
    appAuth: appAuth(push.app.definition.authConfig),
    analysis: Object.fromEntries(
      paths.map((path) => [path, analysis(push.definitions.get(path) as EvaluatedDefinition)]),
    ),
    app: checkedComponent(push.app),
    schemaChange: { allocatedComponentIds: {}, schemaIds: { "": pushId }, indexDiffs: indexDiffs(push, previous) },
  };
}

/** The push that a `finish_push` or `wait_for_schema` body is about. */
export function pushIdOf(schemaChange: unknown): string | null {
  const ids = (schemaChange as { schemaIds?: Record<string, unknown> } | null | undefined)?.schemaIds;
  const id = ids?.[""];
  return typeof id === "string" ? id : null;
}

function analysis(definition: EvaluatedDefinition): Json {
  const modules = [...definition.modules].sort((a, b) => (a.config.path < b.config.path ? -1 : 1));
  return {
    definition: definitionMetadata(definition),
    schema: definition.schema && analyzedSchema(definition.schema),
    functions: Object.fromEntries(modules.map((module) => [`${module.name}.js`, analyzedModule(module)])),
    udfConfig: {
      serverVersion: definition.config.udfServerVersion || CONVEX_VERSION,
      importPhaseRngSeed: { $bytes: Buffer.alloc(32).toString("base64") },
      importPhaseUnixTimestamp: { $integer: Buffer.alloc(8).toString("base64") },
    },
  };
}

function definitionMetadata(definition: EvaluatedDefinition): Json {
  const { definitionType, childComponents, httpMounts, exports, envVars } = definition.export;
  return {
    path: definition.path,
    definitionType,
    childComponents,
    httpMounts,
    exports: definitionType.type === "app" ? exports : publicFunctions(definition.modules),
    ...(envVars ? { envVars } : {}),
  };
}

// An interface, as a type cannot refer to itself in its arguments.
// eslint-disable-next-line @typescript-eslint/no-empty-object-type
interface ExportTree extends Map<string, ExportTree | string> {}

// A component's parent sees its public functions, under their module paths.
function publicFunctions(modules: readonly EvaluatedModule[]): ComponentExports {
  const root: ExportTree = new Map();
  for (const module of modules) {
    for (const fn of module.inspection.functions) {
      if (fn.visibility.kind !== "public") continue;
      branchAt(root, module.name.split("/")).set(fn.name, `_reference/function/${module.name}:${fn.name}`);
    }
  }
  return serialize(root);
}

function branchAt(root: ExportTree, path: readonly string[]): ExportTree {
  let branch = root;
  for (const name of path) {
    const next = branch.get(name);
    if (next instanceof Map) {
      branch = next;
      continue;
    }
    const created: ExportTree = new Map();
    branch.set(name, created);
    branch = created;
  }
  return branch;
}

function serialize(tree: ExportTree): ComponentExports {
  const branch = [...tree].map(([name, node]): [string, ComponentExports] => [
    name,
    typeof node === "string" ? { type: "leaf", leaf: node } : serialize(node),
  ]);
  return { type: "branch", branch: branch.sort(([a], [b]) => (a < b ? -1 : 1)) };
}

/** A schema as the server stores it: `_creationTime` is the last field of every index, of staged ones too. */
export function analyzedSchema(schema: SchemaJson): Json {
  const stored = (index: IndexJson): IndexJson => ({ ...index, fields: [...index.fields, "_creationTime"] });
  const tables = schema.tables.map((table) => ({
    ...table,
    indexes: table.indexes.map(stored),
    ...(table.stagedDbIndexes && { stagedDbIndexes: table.stagedDbIndexes.map(stored) }),
  }));
  return { tables, schemaValidation: schema.schemaValidation };
}

function analyzedModule(module: EvaluatedModule): Json {
  return {
    functions: module.inspection.functions,
    httpRoutes: module.inspection.httpRoutes.map((route) => ({
      route: { path: route.path, method: route.method },
      pos: null,
    })),
    cronSpecs: Object.entries(module.inspection.crons).map(([name, spec]) => [
      name,
      { udfPath: spec.name, udfArgs: spec.args, cronSchedule: spec.schedule },
    ]),
    sourceMapped: null,
  };
}

function checkedComponent(instance: ComponentInstance): Json {
  const http = instance.definition.modules.find((module) => module.name === "http");
  return {
    definitionPath: instance.definition.path,
    componentPath: instance.componentPath,
    args: {},
    childComponents: Object.fromEntries([...instance.children].map(([name, child]) => [name, checkedComponent(child)])),
    httpRoutes: {
      httpModuleRoutes: http ? http.inspection.httpRoutes : null,
      mounts: Object.keys(instance.definition.export.httpMounts),
    },
    exports: {},
  };
}

function appAuth(config: unknown): unknown[] {
  const providers = (config as { providers?: unknown[] } | null)?.providers ?? [];
  return providers.map((provider) => {
    const { type, applicationID, ...fields } = provider as { type?: string; applicationID?: string };
    return type === "customJwt"
      ? { type, applicationID: applicationID ?? null, ...fields }
      : { applicationID, ...fields };
  });
}
