/**
 * Looks at what was pushed: at definitions, schemas and the configuration of authentication each in a context of its own,
 * at the modules of a component in one, as Convex does.
 * get-convex/convex-backend crates/isolate/src/environment/analyze.rs
 */

import { AppCode, type Analysis, type AppSurroundings } from "./app_code.ts";
import { DeployError, InvalidAuthConfig } from "../errors.ts";
import { evaluateAuthConfig } from "./auth_config.ts";
import type { LoadPhase } from "../isolate/types.ts";
import { environmentOf, type Environment } from "../realm/environment.ts";
import { ModuleResolutionError } from "../realm/modules.ts";
import { guarded } from "../realm/watchdog.ts";
import type { RuntimeEntry, SchemaJson } from "../runtime_types.ts";
import {
  allComponents,
  type ComponentInstance,
  type DefinitionExport,
  type EvaluatedDefinition,
  type EvaluatedModule,
  type EvaluatedPush,
} from "./evaluated.ts";
import { instantiate } from "./instances.ts";
import { definitionIdentifier, identifier, relativeIdentifier } from "./module_ids.ts";
import { checkedInspection, readInspection } from "./inspections.ts";
import type { DefinitionConfig, ModuleConfig, StartPushRequest } from "./request.ts";
import { withoutSystemFields } from "./rules/schema.ts";

const EMPTY_APP: DefinitionExport = {
  definitionType: { type: "app" },
  childComponents: [],
  httpMounts: {},
  exports: { type: "branch", branch: [] },
};

const AUTH_CONFIG = "auth.config";
// What inspection says of a module without a default export.
const MISSING_EXPORT = "";
const SCHEMA_FAILURE = "Hit an error while evaluating your schema:";
const SEE_SCHEMA_DOCS = "To learn more, see the schema documentation at https://docs.convex.dev/database/schemas.";

/** Evaluates definitions, schemas and modules, and instantiates the component tree. */
export class PushEvaluation {
  readonly #request: StartPushRequest;
  readonly #code: AppCode;
  readonly #errorText: RuntimeEntry["errorText"];
  readonly #exports: Map<string, DefinitionExport>;
  readonly #instances: Map<string, ComponentInstance>;

  private constructor(
    request: StartPushRequest,
    code: AppCode,
    errorText: RuntimeEntry["errorText"],
    exports: Map<string, DefinitionExport>,
    instances: Map<string, ComponentInstance>,
  ) {
    this.#request = request;
    this.#code = code;
    this.#errorText = errorText;
    this.#exports = exports;
    this.#instances = instances;
  }

  /** Rejects with `DeployError`, or what the app's code threw. */
  static async run(
    request: StartPushRequest,
    env: Environment,
    errorText: RuntimeEntry["errorText"],
    surroundings: AppSurroundings,
    load: LoadPhase,
  ): Promise<EvaluatedPush> {
    const exports = new Map<string, DefinitionExport>();
    const instances = new Map<string, ComponentInstance>();
    const code = await AppCode.of({
      sources: sourcesOf(request),
      surroundings,
      resolve: (specifier, importer) => resolved(specifier, importer, exports),
      externalPackages: request.externalPackages,
      load,
      env: (componentPath) => environmentOf(componentPath, env, instances),
    });
    try {
      return await new PushEvaluation(request, code, errorText, exports, instances).#run();
    } catch (error) {
      code.close();
      throw error;
    }
  }

  async #run(): Promise<EvaluatedPush> {
    const definitions = new Map<string, EvaluatedDefinition>();
    for (const config of [this.#request.app, ...this.#request.components]) {
      definitions.set(config.definitionPath, await this.#definition(config));
    }
    const app = instantiate("", "", definitions, []);
    for (const instance of allComponents(app)) this.#instances.set(instance.componentPath, instance);
    const authModule = authModuleOf(this.#request.app);
    return {
      definitions,
      app,
      code: this.#code,
      authConfigWith: async (env) => (authModule ? await this.#authConfig(authModule, env) : null),
    };
  }

  async #definition(config: DefinitionConfig): Promise<EvaluatedDefinition> {
    const exported = await this.#definitionExport(config);
    const schema = config.schema ? await this.#schema(config, config.schema) : null;
    const analysis = this.#code.analysis();
    const modules: EvaluatedModule[] = [];
    const authModule = config.definitionPath === "" ? authModuleOf(config) : undefined;
    let authConfig: unknown = null;
    for (const module of config.functions) {
      if (module.path.startsWith("_deps/")) continue;
      const name = nameOf(module);
      if (module === authModule) authConfig = await this.#authConfig(module);
      else modules.push(await this.#module(config, module, name, analysis));
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
    const id = definitionIdentifier(config.definitionPath);
    const text = await this.#failingAs("InvalidDefinition", `Failed to evaluate ${where}`, () =>
      this.#code.analysis().inspect(id, "definition"),
    );
    return JSON.parse(text) as DefinitionExport;
  }

  // get-convex/convex-backend crates/isolate/src/environment/schema.rs
  async #schema(config: DefinitionConfig, schema: ModuleConfig): Promise<SchemaJson> {
    const id = identifier(config.definitionPath, schema.path);
    const text = await this.#failingAs("InvalidSchema", SCHEMA_FAILURE, () =>
      this.#code.analysis().inspect(id, "schema"),
    );
    const refused = (code: string, reason: string): DeployError =>
      new DeployError(code, `${SCHEMA_FAILURE}\n${reason} ${SEE_SCHEMA_DOCS}`);
    if (text === MISSING_EXPORT) throw refused("MissingSchemaExportError", "Schema file missing default export.");
    try {
      return withoutSystemFields(JSON.parse(text) as SchemaJson);
    } catch {
      throw refused("InvalidSchemaExport", "Default export from schema file isn't a Convex schema.");
    }
  }

  async #authConfig(module: ModuleConfig, env?: Environment): Promise<unknown> {
    return await evaluateAuthConfig(this.#code, module, env, async (run) => {
      return await this.#failing((reason) => new InvalidAuthConfig(reason), run);
    });
  }

  async #module(
    config: DefinitionConfig,
    module: ModuleConfig,
    name: string,
    analysis: Analysis,
  ): Promise<EvaluatedModule> {
    const id = identifier(config.definitionPath, module.path);
    const inspection = await this.#failingAs("InvalidModules", analyzing(module), async () =>
      module.environment === "node"
        ? checkedInspection(await this.#code.inspectForNode(id))
        : readInspection(await analysis.inspect(id, "module")),
    );
    return { config: module, name, inspection };
  }

  async #failingAs<T>(code: string, what: string, run: () => Promise<T>): Promise<T> {
    return await this.#failing((reason) => {
      return new DeployError(code, `${what}${what.endsWith(":") ? "\n" : ": "}${reason}`);
    }, run);
  }

  async #failing<T>(failure: (reason: string) => DeployError, run: () => Promise<T>): Promise<T> {
    try {
      return await guarded(ANALYZE_LIMITS, run);
    } catch (error) {
      if (error instanceof DeployError) throw error;
      throw failure(this.#code.sourceMaps.translate(this.#errorText(error)));
    }
  }
}

function nameOf({ path }: ModuleConfig): string {
  return path.replace(/\.[^./]+$/, "");
}

function authModuleOf({ functions }: DefinitionConfig): ModuleConfig | undefined {
  return functions.find((module) => nameOf(module) === AUTH_CONFIG);
}

/** Modules by identifier. */
function sourcesOf({ app, components }: StartPushRequest): Map<string, ModuleConfig> {
  const sources = new Map<string, ModuleConfig>();
  for (const { definitionPath, definition, schema, functions } of [app, ...components]) {
    for (const module of schema ? [...functions, schema] : functions) {
      sources.set(identifier(definitionPath, module.path), module);
    }
    if (definition) sources.set(definitionIdentifier(definitionPath), definition);
  }
  return sources;
}

const DEPENDENCY = /^\.\/_componentDeps\/([\w-]+)$/;

/** Where an import leads; `import child from "child/convex.config"` is the child's name. */
function resolved(
  specifier: string,
  importer: string,
  exports: ReadonlyMap<string, DefinitionExport>,
): string | { identifier: string; defaultExport: string } {
  const dependency = DEPENDENCY.exec(specifier)?.[1];
  if (dependency === undefined) return relativeIdentifier(specifier, importer);
  const path = Buffer.from(dependency, "base64url").toString("utf8");
  const child = exports.get(path);
  if (!child) throw new ModuleResolutionError(`no component definition at ${path}`);
  return {
    identifier: specifier,
    defaultExport: JSON.stringify({ componentDefinitionPath: path, defaultName: child.name }),
  };
}

// ISOLATE_ANALYZE_USER_TIMEOUT of get-convex/convex-backend crates/common/src/knobs.rs
const ANALYZE_MS = 4000;
const ANALYZE_LIMITS = {
  busyMs: ANALYZE_MS,
  addsUp: false,
  totalMs: ANALYZE_MS,
  idleMs: ANALYZE_MS,
  idleMessage: `Function execution timed out (maximum duration: ${ANALYZE_MS / 1000}s)`,
};

const analyzing = (module: ModuleConfig): string =>
  `Loading the pushed modules encountered the following\n    error:\nFailed to analyze ${module.path}`;
