/**
 * Compiles a grader ahead, so that it runs on vitest's own runner and assertions without a vite server, which would
 * cost ten times as much. Only for graders whose meaning cannot depend on vite: any doubt, and they get the whole vitest.
 */
import { readFileSync, realpathSync } from "node:fs";
import { isBuiltin } from "node:module";
import path from "node:path";
import { build, transform, type Loader, type OnResolveResult, type Plugin, type PluginBuild } from "esbuild";
import { TRANSFORM } from "../tester/transform.ts";
import { TO_BE_READ } from "./graders.ts";
import {
  CONDITIONS,
  EXTENSIONS,
  LIBRARY,
  isBare,
  packageName,
  sourcesFor,
  type PackageSources,
} from "../tester/resolution.ts";
import type { CompiledGrader } from "../tester/worker_state.ts";

/** `reason` says why the grader needs the whole vitest. */
export type Compilation = { compiled: CompiledGrader; selfContained: boolean } | { reason: string };

/**
 * How a grader may learn where the suite is: its working folder is another. Reading files and starting processes does not say that, and what it starts
 * may be the project's, which must see neither grader nor answer.
 */
const LOOKS_FOR_FILES = /\bimport\.meta\b|\bgetBuiltinModule\b|\bargv\b|\.stack\b|\bbinding\b/;
const LOOKING_MODULES = new Set(["worker_threads", "module", "vm"]);

const LOADERS: Record<string, Loader> = {
  ".ts": "ts",
  ".mts": "ts",
  ".tsx": "tsx",
  ".js": "js",
  ".mjs": "js",
  ".jsx": "jsx",
};

/** What vite, its mocker, its environments or snapshot files give a meaning to. */
const NEEDS_VITE: readonly [RegExp, string][] = [
  [
    /\.\s*(mock|doMock|unmock|doUnmock|hoisted|importActual|importMock|resetModules|dynamicImportSettled|setConfig)\s*\(/,
    "module mocks",
  ],
  [/\bvi(test)?\s*(\[|as\b)/, "vi under another name"],
  [/\bimport\s*\*\s*as\s+\w+\s+from\s*["']\./, "a module of its own as a namespace"],
  [/\bimport\s*\(\s*(?!["'][^"']*["']\s*[,)])/, "imports whose names it computes"],
  [/\bcreateRequire\b/, "createRequire"],
  [/@(vitest|jest)-environment/, "an environment of its own"],
  [/import\.meta\s*\.\s*(env|glob|vitest|hot|resolve)\b/, "import.meta of vite"],
  [/__vite|\bVITE_/, "vite by name"],
  [/\brequire\s*(\(|\.)|\bmodule\s*\.\s*exports\b|\bexports\s*\.\s*\w+\s*=/, "CommonJS"],
  [/\b__dirname\b|\b__filename\b/, "CommonJS"],
  [/\bto(Throw\w*)?Match(ing)?(Inline|File)?Snapshot\b/, "snapshots"],
  [/\bprocess\s*\.\s*exit\b/, "process.exit"],
  [/\bbench\b/, "benchmarks"],
];

class NeedsVite extends Error {}

/** Whether Node and vite make the same of a package's module: vite merges what a default export has into the others. */
function isPlainModule(file: string): boolean {
  if (file.endsWith(".mjs")) return true;
  if (!file.endsWith(".js") || /\bdefault\b/.test(readFileSync(file, "utf8"))) return false;
  for (let folder = path.dirname(file); ; folder = path.dirname(folder)) {
    try {
      const manifest = JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8")) as { type?: string };
      return manifest.type === "module";
    } catch {
      if (path.dirname(folder) === folder) return false;
    }
  }
}

async function checkPackage(
  bundle: PluginBuild,
  specifier: string,
  importer: string,
  sources: PackageSources,
): Promise<void> {
  if (isBuiltin(specifier) || specifier === "vitest" || specifier === LIBRARY) return;
  for (const folder of sourcesFor(path.dirname(importer), sources)) {
    const found = await bundle.resolve(specifier, {
      resolveDir: folder,
      kind: "import-statement",
      pluginData: "package",
    });
    if (found.errors.length > 0) continue;
    if (packageName(specifier) === "convex" || isPlainModule(found.path)) return;
    throw new NeedsVite(`${specifier} is CommonJS, or has a default export`);
  }
  throw new NeedsVite(`${specifier} is not installed`);
}

/** Leaves packages outside, once it is known that Node loads them as vite would. */
function packagesOutside(sources: PackageSources, refusals: string[]): Plugin {
  return {
    name: "packages-outside",
    setup(bundle) {
      bundle.onResolve({ filter: /^[^./]/ }, async (args): Promise<OnResolveResult | undefined> => {
        if (args.kind === "entry-point" || args.pluginData === "package" || !isBare(args.path)) return undefined;
        try {
          await checkPackage(bundle, args.path, args.importer, sources);
        } catch (error) {
          if (!(error instanceof NeedsVite)) throw error;
          refusals.push(error.message);
        }
        return { path: args.path, external: true };
      });
    },
  };
}

async function compileModule(file: string): Promise<string> {
  const loader = LOADERS[path.extname(file)];
  if (!loader) throw new NeedsVite(`${path.basename(file)} is no script`);
  const source = readFileSync(file, "utf8");
  for (const [pattern, what] of NEEDS_VITE) {
    if (pattern.test(source)) throw new NeedsVite(`${path.basename(file)} uses ${what}`);
  }
  const { code } = await transform(source, { ...TRANSFORM, loader, sourcefile: file });
  return code;
}

/** Compiles `grader` and what it imports relatively. A grader that does not compile is vitest's to complain about. */
export async function compileGrader(grader: string, suite: string, packages: string[]): Promise<Compilation> {
  const root = realpathSync(suite);
  const entry = realpathSync(grader);
  const refusals: string[] = [];
  try {
    const { metafile } = await build({
      ...TO_BE_READ,
      absWorkingDir: root,
      entryPoints: [entry],
      resolveExtensions: EXTENSIONS,
      conditions: CONDITIONS,
      plugins: [packagesOutside({ suite: root, packages }, refusals)],
    });
    if (refusals[0] !== undefined) return { reason: refusals[0] };
    const imported = Object.values(metafile.inputs).flatMap(({ imports }) =>
      imports.map(({ path: resolved, original = resolved }) => original),
    );
    const query = imported.find((specifier) => /\?|^data:/.test(specifier));
    if (query !== undefined) return { reason: `${query} is imported with a query` };
    const files = Object.keys(metafile.inputs).map((input) => realpathSync(path.resolve(root, input)));
    const outside = files.find((file) => !file.startsWith(root + path.sep) || file.includes("/node_modules/"));
    if (outside !== undefined) return { reason: `${path.basename(outside)} is not the suite's own` };
    const modules = await Promise.all(files.map(async (file) => [file, await compileModule(file)] as const));
    const looks = imported.some((specifier) => LOOKING_MODULES.has(specifier.replace(/^node:/, "")));
    const selfContained = !looks && !modules.some(([, text]) => LOOKS_FOR_FILES.test(text));
    return { compiled: { grader: entry, suite: root, modules: Object.fromEntries(modules) }, selfContained };
  } catch (error) {
    if (error instanceof NeedsVite) return { reason: error.message };
    // Whatever is odd about a grader, vitest may still know what to do with it.
    return { reason: `it does not compile: ${String(error)}` };
  }
}
