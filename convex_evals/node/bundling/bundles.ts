/** How bundles are made: modules that Node runs as they are, and scripts for `code_cache.ts`. */
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { build, type BuildOptions, type Plugin } from "esbuild";
import { PARAMETERS } from "../code_cache.ts";

/** The folder that holds all of these sources. */
export const ROOT = path.dirname(path.dirname(fileURLToPath(import.meta.url)));

/**
 * Node's own modules, as `require` gives them. To import one as an ES module evaluates all that it offers: with
 * `node:http` comes an HTTP client, which takes twice as long to load as the rest of the backend.
 */
export const BUILTINS: Plugin = {
  name: "builtins",
  setup(bundle) {
    bundle.onResolve({ filter: /^[a-z_:/]+$/ }, ({ path: name }) =>
      isBuiltin(name) ? { path: name, namespace: "builtin" } : undefined,
    );
    bundle.onLoad({ filter: /.*/, namespace: "builtin" }, ({ path: name }) => ({
      contents: `module.exports = process.getBuiltinModule(${JSON.stringify(name)});`,
    }));
  },
};

const BUILTIN =
  "const __builtin = (name) => { const whole = process.getBuiltinModule(name); return Object.create(whole, { default: { value: whole } }); };";

/** esbuild copies all that a module offers for whoever imports some of it; of Node's own, that loads what nobody uses. */
function withoutCopies(text: string): string {
  const builtins = new Map(
    [...text.matchAll(/var (require_\w+) = __commonJS\(\{\s*"builtin:([^"]+)"/g)].map(([, name, module]) => [
      name,
      module,
    ]),
  );
  return text.replace(/__toESM\((require_\w+)\(\), 1\)/g, (copy, name: string) => {
    const module = builtins.get(name);
    return module === undefined ? copy : `__builtin(${JSON.stringify(module)})`;
  });
}

/** A script for `code_cache.ts`: a function, as Node makes one of each CommonJS module. */
export const SCRIPT = {
  bundle: true,
  format: "cjs",
  target: "node24",
  banner: { js: `(function ${PARAMETERS} { "use strict"; ${BUILTIN}` },
  footer: { js: "})" },
  define: { "import.meta.url": "meta.url", "import.meta.main": "meta.main", "import.meta.resolve": "meta.resolve" },
  logLevel: "warning",
} as const satisfies BuildOptions;

/** A module that Node runs as it is. */
export const MODULE = {
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node24",
  banner: { js: BUILTIN },
  plugins: [BUILTINS],
  logLevel: "warning",
} as const satisfies BuildOptions;

/** Builds into a file that is complete when it is there. */
export async function buildInto(file: string, options: BuildOptions): Promise<void> {
  const draft = `${file}.${process.pid}`;
  const { outputFiles } = await build({ ...options, outfile: file, write: false });
  writeFileSync(draft, withoutCopies(outputFiles[0]!.text));
  renameSync(draft, file);
}

/** Builds `source` into the script `name`.bundle.cjs, and beside it the module that loads it and exports the same names. */
export async function buildScript(
  source: string,
  name: string,
  names: readonly string[],
  options: BuildOptions,
): Promise<void> {
  const bundle = path.join(ROOT, `${name}.bundle`);
  rmSync(`${bundle}.cjs.code`, { force: true });
  await buildInto(`${bundle}.cjs`, { ...SCRIPT, platform: "node", ...options, entryPoints: [path.join(ROOT, source)] });
  const loader = `import { loadScript } from "./code_cache.ts";
    const loaded = loadScript(import.meta);
    ${names.map((each) => `export const ${each} = loaded[${JSON.stringify(each)}];`).join("\n")}`;
  const stdin = { contents: loader, resolveDir: ROOT, loader: "ts" } as const;
  await buildInto(`${bundle}.mjs`, { ...MODULE, stdin });
}
