/** A project folder as the body of `POST /api/deploy2/start_push`. */
import type { IsolateScript } from "../isolate_script.ts";
import type { Bundled } from "./bundled.ts";
import { DeployError } from "./deploy_error.ts";
import { externalPackages, type ExternalPackages } from "./external_packages.ts";
import { discardGenerated, refuseOtherGenerated, writeInitial } from "./generated.ts";
import { bundlePages } from "./pages.ts";
import { findComponents, inProject, official, warnings, type Project } from "./project.ts";
import { scriptOf } from "./scripts.ts";

/** One bundled module. */
export interface PushedModule {
  path: string;
  source: string;
  sourceMap?: string | undefined;
  environment: "node" | "isolate";
  /** Spares the backend the conversion: the official command line sends none. */
  script?: IsolateScript;
}

/** What every definition has, the app's as well as a component's. */
interface PushedDefinition {
  definition: PushedModule;
  dependencies: string[];
  schema: PushedModule | null;
  udfServerVersion: string;
}

/**
 * The body of the request, without the key, which belongs to the backend that it is sent to. Written out here because
 * the official type is made with a zod that the toolchain does not have.
 */
export interface PushRequest {
  dryRun: boolean;
  functions: string;
  appDefinition: PushedDefinition & { changedModules: PushedModule[]; unchangedModuleHashes: never[] };
  componentDefinitions: (PushedDefinition & { definitionPath: string; functions: PushedModule[] })[];
  nodeDependencies: { name: string; version: string }[];
  /** The files of `nodeDependencies`: the official command line sends none. */
  externalPackages?: ExternalPackages;
  nodeVersion?: string;
  forCodegen: boolean;
}

/** Which files of a project run, and what their imports become: in the deployment, and in pages and programs. */
export interface Sources {
  functions: Bundled;
  pages: Bundled;
}

/** A project ready to be sent. */
export interface BuiltPush {
  request: PushRequest;
  sources: Sources;
  warnings: string[];
}

type Made<Step extends "bundleDefinitions" | "bundleImplementations"> = Awaited<ReturnType<(typeof official)[Step]>>;

/** Definitions of components with the modules that implement them. */
function implemented(
  definitions: Made<"bundleDefinitions">["componentDefinitionSpecsWithoutImpls"],
  implementations: Made<"bundleImplementations">["componentImplementations"],
): PushRequest["componentDefinitions"] {
  return definitions.map((definition) => {
    const implementation = implementations.find((each) => each.definitionPath === definition.definitionPath);
    if (!implementation) throw new DeployError(`the component at ${definition.definitionPath} was not bundled`);
    return { ...definition, ...implementation, udfServerVersion: official.version };
  });
}

/** Adds the scripts to the modules of the default runtime. */
async function addScripts({ appDefinition, componentDefinitions }: PushRequest): Promise<void> {
  const definitions = [appDefinition, ...componentDefinitions];
  const modules = [
    ...definitions.flatMap(({ definition, schema }) => [definition, schema]),
    ...appDefinition.changedModules,
    ...componentDefinitions.flatMap(({ functions }) => functions),
  ];
  const convert = async (module: PushedModule): Promise<void> => {
    module.script = await scriptOf(official.esbuild, module.path, module.source);
  };
  await Promise.all(modules.flatMap((module) => (module?.environment === "isolate" ? [convert(module)] : [])));
}

/** What the modules for Node.js import and do not contain. */
function external(
  { root, config }: Project,
  dependencies: PushRequest["nodeDependencies"],
): Pick<PushRequest, "nodeDependencies" | "externalPackages" | "nodeVersion"> {
  const packages = externalPackages(
    root,
    dependencies.map(({ name }) => name),
  );
  return {
    nodeDependencies: dependencies,
    ...(packages === undefined ? {} : { externalPackages: packages }),
    ...(config.node.nodeVersion === undefined ? {} : { nodeVersion: config.node.nodeVersion }),
  };
}

async function makeRequest(project: Project): Promise<PushRequest> {
  const { ctx, rootComponent, config } = project;
  const { components, dependencyGraph } = await findComponents(project);
  discardGenerated(project, components);
  refuseOtherGenerated(project, components);
  await writeInitial(project, components);
  const { appDefinitionSpecWithoutImpls, componentDefinitionSpecsWithoutImpls } = await official.bundleDefinitions(
    ctx,
    project.root,
    dependencyGraph,
    rootComponent,
    [...components.values()],
    false,
  );
  const { appImplementation, componentImplementations } = await official.bundleImplementations({
    ctx,
    rootComponentDirectory: rootComponent,
    componentDirectories: [...components.values()].filter((component) => !component.isRoot),
    nodeExternalPackages: config.node.externalPackages,
    extraConditions: [],
    verbose: false,
    includeSourcesContent: config.bundler?.includeSourcesContent ?? false,
  });
  return {
    dryRun: false,
    functions: config.functions,
    appDefinition: {
      ...appDefinitionSpecWithoutImpls,
      schema: appImplementation.schema,
      changedModules: appImplementation.functions,
      unchangedModuleHashes: [],
      udfServerVersion: official.version,
    },
    componentDefinitions: implemented(componentDefinitionSpecsWithoutImpls, componentImplementations),
    ...external(project, appImplementation.externalNodeDependencies),
    forCodegen: false,
  };
}

/**
 * Bundles a project the way `npx convex dev` does, with every module in the request.
 *
 * Deletes the project's `_generated` folders and writes the initial ones; nothing else is written.
 *
 * @throws DeployError when the project is at fault, with Convex's own message (and esbuild's, with file and line)
 */
export async function buildPush(projectDir: string): Promise<BuiltPush> {
  return await inProject(projectDir, async (project) => {
    const request = await makeRequest(project);
    const functions = official.takeBundled();
    const [pages] = await Promise.all([bundlePages(project), addScripts(request)]);
    return { request, sources: { functions, pages }, warnings: warnings(project) };
  });
}

/** `buildPush` for callers that want the request only. */
export async function buildPushRequest(projectDir: string): Promise<PushRequest> {
  return (await buildPush(projectDir)).request;
}
