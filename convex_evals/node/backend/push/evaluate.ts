/** Runs the modules of a push for the first time, inside its context. */

import type vm from "node:vm";
import { loadingComponent, type ContextEnvironment } from "../realm/environment.ts";
import { ModuleGraph, ModuleResolutionError } from "../realm/modules.ts";
import { NodeProcess, type NodeHost } from "../realm/node_process.ts";
import { SourceMaps } from "../realm/source_maps.ts";
import { guarded } from "../realm/watchdog.ts";
import type { ModuleInspection, RuntimeEntry, SchemaJson } from "../runtime_types.ts";
import { DeployError } from "../errors.ts";
import {
  allComponents,
  type DefinitionExport,
  type EvaluatedDefinition,
  type EvaluatedModule,
  type EvaluatedPush,
} from "./evaluated.ts";
import { instantiate, type LoadingInstance } from "./instances.ts";
import { definitionIdentifier, identifier, relativeIdentifier } from "./module_ids.ts";
import { checkedInspection } from "./remote_inspection.ts";
import type { DefinitionConfig, ModuleConfig, StartPushRequest } from "./request.ts";
import { withoutSystemFields } from "./rules/schema.ts";

const EMPTY_APP: DefinitionExport = {
  definitionType: { type: "app" },
  childComponents: [],
  httpMounts: {},
  exports: { type: "branch", branch: [] },
};

const AUTH_CONFIG = "auth.config";
const SCHEMA_FAILURE = "Hit an error while evaluating your schema:";
const SEE_SCHEMA_DOCS = "To learn more, see the schema documentation at https://docs.convex.dev/database/schemas.";

/** Evaluates definitions, schemas and modules, and instantiates the component tree. */
export class PushEvaluation {
  readonly #request: StartPushRequest;
  readonly #entry: RuntimeEntry;
  readonly #sources = new Map<string, ModuleConfig>();
  readonly #sourceMaps: SourceMaps;
  readonly #isolate: ModuleGraph;
  readonly #context: vm.Context;
  readonly #nodeHost: NodeSurroundings;
  readonly #processes: NodeProcess[] = [];
  readonly #environment: ContextEnvironment;
  readonly #exports = new Map<string, DefinitionExport>();
  #node: NodeProcess | null = null;

  constructor(
    request: StartPushRequest,
    context: vm.Context,
    entry: RuntimeEntry,
    environment: ContextEnvironment,
    nodeHost: NodeSurroundings,
  ) {
    this.#request = request;
    this.#context = context;
    this.#entry = entry;
    this.#environment = environment;
    this.#nodeHost = nodeHost;
    this.#isolate = new ModuleGraph(context, (specifier, importer) => this.#resolveIsolate(specifier, importer));
    for (const definition of [request.app, ...request.components]) {
      const modules = definition.schema ? [...definition.functions, definition.schema] : definition.functions;
      for (const module of modules) this.#sources.set(identifier(definition.definitionPath, module.path), module);
    }
    this.#sourceMaps = new SourceMaps(mapTexts(this.#sources));
  }

  /** Rejects with `DeployError`, or what the app's code threw. */
  async run(): Promise<EvaluatedPush> {
    try {
      return await this.#run();
    } catch (error) {
      for (const node of this.#processes) node.close();
      throw error;
    }
  }

  async #run(): Promise<EvaluatedPush> {
    const definitions = new Map<string, EvaluatedDefinition>();
    for (const config of [this.#request.app, ...this.#request.components]) {
      definitions.set(config.definitionPath, await this.#definition(config));
    }
    const app = instantiate("", "", definitions, []);
    const instances = new Map(
      [...allComponents(app)].map((instance) => [instance.componentPath, instance as LoadingInstance]),
    );
    this.#environment.components = instances;
    for (const instance of instances.values()) if (instance.componentPath !== "") await this.#loadInstance(instance);
    return { definitions, app, sourceMaps: this.#sourceMaps, processes: this.#processes };
  }

  async #loadInstance({ componentPath, definition, namespaces }: LoadingInstance): Promise<void> {
    const isolate: ModuleGraph = new ModuleGraph(this.#context, (specifier, importer) =>
      this.#resolveIsolate(specifier, importer, isolate),
    );
    const node = this.#startNode(componentPath);
    for (const { config, name } of definition.modules) {
      const id = identifier(definition.path, config.path);
      const evaluate = async (): Promise<object> =>
        config.environment === "node"
          ? (await this.#nodeModule(node, id)).namespace
          : await isolate.evaluate(isolate.module(id, () => config.source));
      const namespace = await this.#failingAs("InvalidModules", analyzing(config), () =>
        loadingComponent(componentPath, evaluate),
      );
      namespaces.set(name, namespace);
    }
  }

  async #definition(config: DefinitionConfig): Promise<EvaluatedDefinition> {
    const exported = await this.#definitionExport(config);
    const schema = config.schema ? await this.#schema(config, config.schema) : null;
    const modules: EvaluatedModule[] = [];
    let authConfig: unknown = null;
    for (const module of config.functions) {
      if (module.path.startsWith("_deps/")) continue;
      const name = module.path.replace(/\.[^./]+$/, "");
      if (config.definitionPath === "" && name === AUTH_CONFIG) authConfig = await this.#authConfig(module);
      else modules.push(await this.#module(config, module, name));
    }
    return { path: config.definitionPath, config, export: exported, schema, modules, authConfig };
  }

  // Children first: a parent's `use(child)` asks for the name that the child
  // gave itself.
  async #definitionExport(config: DefinitionConfig, importers: readonly string[] = []): Promise<DefinitionExport> {
    const known = this.#exports.get(config.definitionPath);
    if (known) return known;
    if (importers.includes(config.definitionPath)) {
      throw new DeployError("InvalidDefinition", `Component definition ${config.definitionPath} contains itself`);
    }
    for (const dependency of config.dependencies) {
      const child = this.#request.components.find((component) => component.definitionPath === dependency);
      if (child) await this.#definitionExport(child, [...importers, config.definitionPath]);
    }
    const exported = await this.#evaluateDefinition(config);
    this.#exports.set(config.definitionPath, exported);
    return exported;
  }

  async #evaluateDefinition(config: DefinitionConfig): Promise<DefinitionExport> {
    const { definition } = config;
    if (!definition) return EMPTY_APP;
    const where = config.definitionPath === "" ? "convex.config.js" : `${config.definitionPath}/convex.config.js`;
    return await this.#failingAs("InvalidDefinition", `Failed to evaluate ${where}`, async () => {
      const namespace = await this.#isolate.evaluate(
        this.#isolate.module(definitionIdentifier(config.definitionPath), () => definition.source),
      );
      return JSON.parse(this.#entry.inspectDefinition(namespace)) as DefinitionExport;
    });
  }

  async #schema(config: DefinitionConfig, schema: ModuleConfig): Promise<SchemaJson> {
    return await this.#failingAs("InvalidSchema", SCHEMA_FAILURE, async () => {
      const namespace = await this.#isolate.evaluate(
        this.#isolate.module(identifier(config.definitionPath, schema.path), () => schema.source),
      );
      return this.#exportedSchema(namespace);
    });
  }

  // get-convex/convex-backend crates/isolate/src/environment/schema.rs
  #exportedSchema(namespace: Record<string, unknown>): SchemaJson {
    const refused = (code: string, reason: string): DeployError =>
      new DeployError(code, `${SCHEMA_FAILURE}\n${reason} ${SEE_SCHEMA_DOCS}`);
    if (namespace["default"] === undefined || namespace["default"] === null) {
      throw refused("MissingSchemaExportError", "Schema file missing default export.");
    }
    try {
      return withoutSystemFields(JSON.parse(this.#entry.inspectSchema(namespace)) as SchemaJson);
    } catch {
      throw refused("InvalidSchemaExport", "Default export from schema file isn't a Convex schema.");
    }
  }

  async #authConfig(module: ModuleConfig): Promise<unknown> {
    let missing: string | null = null;
    const read = new Proxy(this.#environment.variables, {
      get: (env, name) => {
        if (typeof name === "string" && !(name in env)) missing ??= name;
        return Reflect.get(env, name) as unknown;
      },
    });
    const appProcess = this.#context["process"] as { env: unknown };
    appProcess.env = read;
    try {
      const config = await this.#failingAs("InvalidAuthConfig", "Failed to evaluate auth.config.js", async () => {
        const namespace = await this.#isolate.evaluate(
          this.#isolate.module(identifier("", module.path), () => module.source),
        );
        if (namespace["default"] === undefined || namespace["default"] === null) {
          throw new DeployError(
            "AuthConfigMissingExportError",
            "auth config file is missing default export. To learn more, see the auth documentation at https://docs.convex.dev/auth.",
          );
        }
        return JSON.parse(this.#entry.inspectAuthConfig(namespace)) as unknown;
      });
      if (missing !== null) {
        throw new DeployError(
          "AuthConfigMissingEnvironmentVariable",
          `Environment variable ${String(missing)} is used in auth config file but its value was not set`,
        );
      }
      return config;
    } finally {
      appProcess.env = this.#environment.variables;
    }
  }

  async #module(config: DefinitionConfig, module: ModuleConfig, name: string): Promise<EvaluatedModule> {
    return await this.#failingAs("InvalidModules", analyzing(module), async () => {
      const id = identifier(config.definitionPath, module.path);
      if (module.environment === "node") {
        return { config: module, name, ...(await this.#nodeModule((this.#node ??= this.#startNode("")), id)) };
      }
      const namespace = await this.#isolate.evaluate(this.#isolate.module(id, () => module.source));
      const inspection = JSON.parse(this.#entry.inspectModule(namespace)) as ModuleInspection;
      return { config: module, name, inspection, namespace };
    });
  }

  #startNode(componentPath: string): NodeProcess {
    const sources = Object.fromEntries(
      [...this.#sources]
        .filter(([, { environment }]) => environment === "node")
        .map(([id, { source }]) => [id, source]),
    );
    const env = (): Record<string, string> =>
      loadingComponent(componentPath, () => ({ ...this.#environment.variables }));
    const node = new NodeProcess({ ...this.#nodeHost, sources, env });
    this.#processes.push(node);
    return node;
  }

  /** What the module says that it exports becomes what it exports: nothing else of it is ever asked. */
  async #nodeModule(node: NodeProcess, id: string): Promise<{ inspection: ModuleInspection; namespace: object }> {
    const inspection = checkedInspection(await node.evaluate(id));
    const namespace = this.#entry.remoteModule(JSON.stringify(inspection.functions), async (name, args) =>
      JSON.stringify(await node.invoke(id, name, args)),
    );
    return { inspection, namespace };
  }

  #source(id: string): ModuleConfig {
    const source = this.#sources.get(id);
    if (!source) throw new ModuleResolutionError(`Could not find module ${id.replace(/^convex:\//, "")}`);
    return source;
  }

  #resolveIsolate(specifier: string, importer: string, graph = this.#isolate): vm.Module {
    const dependency = /^\.\/_componentDeps\/([\w-]+)$/.exec(specifier);
    if (dependency?.[1]) {
      return this.#importedDefinition(specifier, Buffer.from(dependency[1], "base64url").toString("utf8"));
    }
    const id = relativeIdentifier(specifier, importer);
    return graph.module(id, () => this.#source(id).source);
  }

  async #failingAs<T>(code: string, what: string, run: () => Promise<T>): Promise<T> {
    try {
      return await guarded(ANALYZE_LIMITS, run);
    } catch (error) {
      if (error instanceof DeployError) throw error;
      const text =
        error instanceof ModuleResolutionError ? `Uncaught Error: ${error.message}` : this.#entry.errorText(error);
      const separator = what.endsWith(":") ? "\n" : ": ";
      throw new DeployError(code, `${what}${separator}${this.#sourceMaps.translate(text)}`);
    }
  }

  // What `import child from "child/convex.config"` evaluates to.
  #importedDefinition(specifier: string, definitionPath: string): vm.Module {
    const child = this.#exports.get(definitionPath);
    if (!child) throw new ModuleResolutionError(`no component definition at ${definitionPath}`);
    return this.#isolate.synthetic(specifier, {
      default: { componentDefinitionPath: definitionPath, defaultName: child.name },
    });
  }
}

// ISOLATE_ANALYZE_USER_TIMEOUT of get-convex/convex-backend crates/common/src/knobs.rs
const ANALYZE_MS = 4000;
const ANALYZE_LIMITS = {
  busyMs: ANALYZE_MS,
  totalMs: ANALYZE_MS,
  idleMs: ANALYZE_MS,
  idleMessage: `Function execution timed out (maximum duration: ${ANALYZE_MS / 1000}s)`,
};

/** All of a `NodeHost` that is the same for every component. */
export type NodeSurroundings = Omit<NodeHost, "sources" | "env">;

const analyzing = (module: ModuleConfig): string =>
  `Loading the pushed modules encountered the following\n    error:\nFailed to analyze ${module.path}`;

function mapTexts(sources: ReadonlyMap<string, ModuleConfig>): Map<string, string> {
  return new Map([...sources].flatMap(([id, { sourceMap }]) => (sourceMap === undefined ? [] : [[id, sourceMap]])));
}
