/** The modules of one context, which are scripts that `require` one another. */

import { asked } from "./host.ts";
import type { Resolved, Surroundings } from "./types.ts";

type Exports = Readonly<Record<string, unknown>>;

/** Loads modules by their identifiers, each once. Throws what they throw. */
export function moduleLoader({ resolve }: Surroundings): (identifier: string) => Exports {
  const modules = new Map<string, { exports: object; failure?: { readonly error: unknown } }>();

  function resolved(specifier: string, importer: string | null): Resolved {
    let found: Resolved | undefined;
    asked(() => {
      found = resolve(specifier, importer);
    });
    return found!;
  }

  function load(specifier: string, importer: string | null): object {
    const found = resolved(specifier, importer);
    if (typeof found === "string") throw new Error(found);
    const { identifier } = found;
    let module = modules.get(identifier);
    if (!module) {
      module = { exports: {} };
      modules.set(identifier, module);
      if ("defaultExport" in found) {
        module.exports = { __esModule: true, default: JSON.parse(found.defaultExport) as unknown };
      } else {
        try {
          const { run } = found;
          run((name) => load(name, identifier), module, module.exports, { url: identifier });
        } catch (error) {
          module.failure = { error };
        }
      }
    }
    if (module.failure) throw module.failure.error;
    return module.exports;
  }

  return (identifier) => load(identifier, null) as Exports;
}
