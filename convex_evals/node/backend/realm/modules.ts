/** ES modules inside a vm context, linked from text that we hold in memory. */

import vm from "node:vm";

/** Text of a module and how its imports are resolved to other modules. */
export interface ModuleSource {
  readonly identifier: string;
  readonly code: string;
}

/** Thrown by a resolver for an import that leads nowhere. */
export class ModuleResolutionError extends Error {}

/** What is said of a module that was not pushed. get-convex/convex-backend crates/model/src/modules/user_error.rs */
export function moduleNotFound(identifier: string): string {
  return `Couldn't find JavaScript module '${identifier.replace(/^convex:\//, "")}'. Did you forget to run \`npx convex dev\`?`;
}

/** What the types of Node leave out. */
type Cacheable = vm.SourceTextModule & { createCachedData(): Buffer };

type Resolver = (specifier: string, importer: string) => vm.Module | Promise<vm.Module>;

/**
 * Compiles modules on demand and keeps one instance per identifier.
 * `resolve` is asked for every import, static and dynamic.
 */
export class ModuleGraph {
  readonly #context: vm.Context | undefined;
  readonly #resolve: Resolver;
  readonly #modules = new Map<string, vm.Module>();

  constructor(context: vm.Context | undefined, resolve: Resolver) {
    this.#context = context;
    this.#resolve = resolve;
  }

  /**
   * The module of `identifier`, compiled from `load()` the first time. With `compiled`, where other graphs leave what
   * they compiled under the same identifier and from the same text, it is compiled once for all of them.
   */
  module(identifier: string, load: () => string, compiled?: Map<string, Buffer>): vm.Module {
    const known = this.#modules.get(identifier);
    if (known) return known;
    const cachedData = compiled?.get(identifier);
    const created = new vm.SourceTextModule(load(), {
      identifier,
      ...(cachedData ? { cachedData } : {}),
      ...(this.#context ? { context: this.#context } : {}),
      importModuleDynamically: (specifier: string) => this.#importDynamically(specifier, identifier),
      initializeImportMeta: (meta: ImportMeta) => {
        meta.url = identifier;
      },
    });
    if (compiled && !cachedData) compiled.set(identifier, (created as Cacheable).createCachedData());
    this.#modules.set(identifier, created);
    return created;
  }

  /** A module whose exports are given by the host. */
  synthetic(identifier: string, exports: Readonly<Record<string, unknown>>): vm.Module {
    const known = this.#modules.get(identifier);
    if (known) return known;
    const created = new vm.SyntheticModule(
      Object.keys(exports),
      function (this: vm.SyntheticModule) {
        for (const [name, value] of Object.entries(exports)) this.setExport(name, value);
      },
      { identifier, ...(this.#context ? { context: this.#context } : {}) },
    );
    this.#modules.set(identifier, created);
    return created;
  }

  /** Links and runs `module`; resolves to its namespace. */
  async evaluate(module: vm.Module): Promise<Record<string, unknown>> {
    if (module.status === "unlinked") {
      await module.link((specifier, importer) => this.#resolve(specifier, importer.identifier));
    }
    // Evaluating twice returns the first evaluation's promise, errors included.
    await module.evaluate();
    return module.namespace as Record<string, unknown>;
  }

  async #importDynamically(specifier: string, importer: string): Promise<vm.Module> {
    const module = await this.#resolve(specifier, importer);
    await this.evaluate(module);
    return module;
  }
}
