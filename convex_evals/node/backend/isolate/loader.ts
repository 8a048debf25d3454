/** The modules of one context, which are scripts that `require` one another. */

import { asked } from "./host.ts";
import { HELPERS, type ModuleExports } from "./module_helpers.ts";
import { namespaceOf } from "./namespace.ts";
import type { ModuleFunction, Resolved, Surroundings } from "./types.ts";

const { create } = Object;
const { parse } = JSON;

// A field that a module does not have would be one of `Object.prototype`, which the app can change.
class Module {
  exports = create(null) as ModuleExports;
  namespace: object | null = null;
  failure: { readonly error: unknown } | null = null;
}

/** Where the scripts say `import.meta`. get-convex/convex-backend crates/isolate/src/isolate.rs */
const META = {
  get value(): never {
    throw new TypeError("import.meta unsupported");
  },
};

export class ModuleLoader {
  readonly #modules = create(null) as Record<string, Module>;
  readonly #surroundings: Pick<Surroundings, "kind" | "resolve">;
  #running = 0;

  constructor(surroundings: Pick<Surroundings, "kind" | "resolve">) {
    this.#surroundings = surroundings;
  }

  /** Loads a module by its identifier, once. Throws what it throws. */
  load(identifier: string): ModuleExports {
    return this.#load(identifier, null).exports;
  }

  #load(specifier: string, importer: string | null): Module {
    const found = this.#resolved(specifier, importer);
    if (typeof found === "string") throw new Error(found);
    const { identifier } = found;
    let module = this.#modules[identifier];
    if (!module) {
      this.#modules[identifier] = module = new Module();
      if ("defaultExport" in found) {
        module.exports = { __proto__: null, default: parse(found.defaultExport) };
      } else this.#run(module, identifier, found.run);
    }
    if (module.failure) throw module.failure.error;
    return module;
  }

  #resolved(specifier: string, importer: string | null): Resolved {
    let found: Resolved | undefined;
    asked(() => {
      found = this.#surroundings.resolve(specifier, importer);
    });
    return found!;
  }

  #run(module: Module, identifier: string, body: ModuleFunction): void {
    this.#running += 1;
    try {
      body((name) => this.#required(name, identifier), module, module.exports, META, HELPERS);
    } catch (error) {
      module.failure = { error };
    } finally {
      this.#running -= 1;
    }
  }

  // Modules are loaded in one go: what comes at another time is an `import()`.
  #required(specifier: string, importer: string): object {
    if (this.#running > 0) return this.#load(specifier, importer).exports;
    if (this.#surroundings.kind !== "action") throw new TypeError("dynamic module import unsupported");
    const module = this.#load(specifier, importer);
    return (module.namespace ??= namespaceOf(module.exports));
  }
}
