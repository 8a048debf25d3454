/** Packages that are not part of the app's modules: Node.js finds and loads them, from the folder that came with the push. */

import { createRequire, isBuiltin } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { PACKAGE_LOADER } from "../node_messages.ts";

type Exports = Readonly<Record<string, unknown>>;

interface Packages {
  /** The exports of what an app's module imports by `specifier`. */
  load(specifier: string): Promise<Exports>;
  require(name: string): unknown;
}

const builtins = createRequire(import.meta.url);

/** What is in the `node_modules` of `folder`; without one, Node.js alone. */
export function packagesIn(folder: string | null): Packages {
  if (folder !== null) {
    // Names are looked up from a file, and the app's modules are none.
    const file = path.join(folder, PACKAGE_LOADER);
    const loader = import(pathToFileURL(file).href) as Promise<Pick<Packages, "load">>;
    return { load: async (specifier) => await (await loader).load(specifier), require: createRequire(file) };
  }
  return {
    load: (specifier) => Promise.reject(new Error(`Cannot find package '${specifier}'`)),
    require: (name) => {
      if (isBuiltin(name)) return builtins(name) as unknown;
      throw new Error(`Cannot find module '${name}'`);
    },
  };
}
