/** The modules of one push, and the ways to run them: contexts in this process, and processes for "use node" modules. */

import type { LoadPhase, View } from "../isolate/types.ts";
import type { HttpOutcome, Outcome } from "../outcomes.ts";
import { removePackages, unpackPackages, type ExternalPackages } from "./external_packages.ts";
import { identifier } from "./module_ids.ts";
import type { ModuleConfig } from "./request.ts";
import { CompiledModules } from "../realm/compiled_modules.ts";
import type { Environment } from "../realm/environment.ts";
import { Isolate, type Resolve, type Syscalls } from "../realm/isolate.ts";
import { prepareIsolates } from "../realm/isolate_loader.ts";
import { NodeProcesses } from "../realm/node_processes.ts";
import { asError } from "../realm/outcome.ts";
import { SourceMaps } from "../realm/source_maps.ts";
import type { AnalyzedFunction, FunctionType, LogLevel } from "../runtime_types.ts";

// https://docs.convex.dev/production/state/limits#functions
const MAX_NODE_ARGUMENTS_BYTES = 5 << 20;
const NODE_ARGUMENTS_TOO_LARGE = "Node actions arguments size is too large. The maximum allowed size is 5 MiB.";

/** What code of an app needs of the backend. */
export interface AppSurroundings {
  readonly syscalls: Syscalls;
  /** When the running transaction began, in Unix milliseconds. */
  transactionMs(): number;
  /** How long code for Node.js may run without letting anything else run. */
  readonly busyMs: number;
  log(level: LogLevel, text: string): void;
}

/** Where a module of a component is: instances of one definition share its code. */
export interface ModulePlace {
  readonly componentPath: string;
  readonly definitionPath: string;
  readonly module: ModuleConfig;
}

export interface Analysis {
  /** What a module exports, as JSON text. Rejects with what the module throws. */
  inspect(id: string, view: View): Promise<string>;
}

interface AnalysisOptions {
  readonly env?: Environment;
  missing?(name: string): void;
}

interface CodeOptions {
  /** By identifier. */
  readonly sources: ReadonlyMap<string, ModuleConfig>;
  readonly surroundings: AppSurroundings;
  readonly resolve: Resolve;
  readonly externalPackages: ExternalPackages | null;
  readonly load: LoadPhase;
  env(componentPath: string): Environment;
}

export class AppCode {
  readonly sourceMaps: SourceMaps;
  readonly #options: CodeOptions;
  readonly #compiled: CompiledModules;
  readonly #processes: NodeProcesses;
  readonly #packages: string | null;

  private constructor(options: CodeOptions, compiled: CompiledModules) {
    const { sources, surroundings } = options;
    this.#options = options;
    this.#compiled = compiled;
    this.sourceMaps = new SourceMaps(
      compiled.maps(),
      new Map([...sources].flatMap(([id, { sourceMap }]) => (sourceMap === undefined ? [] : [[id, sourceMap]]))),
    );
    this.#packages = options.externalPackages && unpackPackages(options.externalPackages);
    const forNode = [...sources].filter(([, { environment }]) => environment === "node");
    this.#processes = new NodeProcesses(
      {
        sources: Object.fromEntries(forNode.map(([id, { source }]) => [id, source])),
        packages: this.#packages,
        busyMs: surroundings.busyMs,
        log: surroundings.log,
        asyncSyscall: surroundings.syscalls.asyncSyscall,
        jsSyscall: surroundings.syscalls.jsSyscall,
      },
      (componentPath) => options.env(componentPath),
    );
  }

  static async of(options: CodeOptions): Promise<AppCode> {
    const [compiled] = await Promise.all([CompiledModules.of(options.sources), prepareIsolates()]);
    return new AppCode(options, compiled);
  }

  /** A context in which modules are only looked at. `missing` is told of the variables that they read in vain. */
  analysis({ env = this.#options.env(""), missing }: AnalysisOptions = {}): Analysis {
    const isolate = this.#isolate("analysis", env, missing);
    return {
      inspect: async (id, view) => {
        const outcome = await isolate.inspect(id, view);
        if ("error" in outcome) throw asError(outcome.error);
        return outcome.value;
      },
    };
  }

  /** The same of a module for Node.js, which says itself what it exports. */
  async inspectForNode(id: string): Promise<string> {
    return await this.#processes.of("").evaluate(id);
  }

  /** Runs a function. `args` and the outcome's value are JSON texts. */
  async call(
    { componentPath, definitionPath, module }: ModulePlace,
    fn: AnalyzedFunction,
    args: string,
  ): Promise<Outcome> {
    const id = identifier(definitionPath, module.path);
    if (module.environment === "node") {
      if (Buffer.byteLength(args) > MAX_NODE_ARGUMENTS_BYTES) return { error: { message: NODE_ARGUMENTS_TOO_LARGE } };
      return await this.#processes.of(componentPath).invoke(id, fn.name, args);
    }
    const kind = fn.udfType.toLowerCase() as FunctionType;
    return await this.#isolate(kind, this.#options.env(componentPath)).invoke(id, fn.name, args);
  }

  /** Runs the HTTP action of a route; null where the module has none. */
  async fetch(
    { componentPath, definitionPath, module }: ModulePlace,
    route: { readonly path: string; readonly method: string },
    request: Request,
  ): Promise<HttpOutcome> {
    const isolate = this.#isolate("action", this.#options.env(componentPath));
    return await isolate.fetch(identifier(definitionPath, module.path), route, request);
  }

  /** Modules for Node.js are loaded again before their next call. */
  renewProcesses(): void {
    this.#processes.renew();
  }

  /** Ends what runs in processes of its own. */
  close(): void {
    this.#processes.close();
    if (this.#packages !== null) removePackages(this.#packages);
  }

  #isolate(kind: FunctionType | "analysis", env: Environment, missing?: (name: string) => void): Isolate {
    const { surroundings, resolve, load } = this.#options;
    const { syscalls, log } = surroundings;
    const transactionMs = kind === "query" || kind === "mutation" ? surroundings.transactionMs() : null;
    return new Isolate({
      kind,
      modules: this.#compiled,
      resolve,
      env,
      load,
      transactionMs,
      syscalls,
      log,
      ...(missing ? { missing } : {}),
    });
  }
}
