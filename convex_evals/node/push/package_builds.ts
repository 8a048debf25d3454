/**
 * Builds of what packages ship, kept for other projects: the definition of an app without a configuration, which imports
 * `convex/server` alone, and components from packages. Each is two thirds of a push of a small project.
 *
 * What is kept must depend on nothing that a project holds. Inside packages imports are resolved by files of packages, which
 * are read-only; how an import leads from a project into them is the project's to say (tsconfig.json, jsconfig.json, what
 * these extend, package.json). So a definition without a file is first built as far as the border of the packages, and
 * its key has all of it: what the border build gave, and where it ended.
 */
import { existsSync, readdirSync, realpathSync } from "node:fs";
import path from "node:path";
import type * as Esbuild from "esbuild";
import type { Opened } from "./opened.ts";
import { isInside, PACKAGES } from "./project_fs.ts";

type Result = Esbuild.BuildResult;
type Build = (options: Esbuild.BuildOptions) => Promise<{ readonly result: Result; readonly opened: Opened }>;

/** What a build gave, which may be an earlier one that opened nothing of a project. */
export interface Made {
  readonly result: Result;
  readonly isKept: boolean;
}

const MOST_KEPT = 64;
/** The definition that the official code gives an app without a configuration. */
const VIRTUAL = "convex-virtual-config";
/** esbuild's own, which it puts into bundles. */
const HELPERS = "<runtime>";
/** Manifests of Yarn, by which esbuild resolves the imports of packages, too, where the working folder has one. */
const MANIFEST = /^\.pnp\./;

const kept = new Map<string, { readonly folder: string; readonly result: Result }>();

/** The real path of a file of packages; undefined for any other file. */
function packaged(file: string, folder: string): string | undefined {
  if (!existsSync(file)) return undefined;
  const real = realpathSync(file);
  return real.includes(PACKAGES) && !isInside(realpathSync(folder), real) ? real : undefined;
}

/** Whether an input of a build is the definition that has no file. */
function isVirtualInput(input: string, opened: Opened): boolean {
  return input.startsWith(`${VIRTUAL}:`) && opened.isAdded(input);
}

/** Leaves out what lies behind the imports that lead into packages; `met` gets the real paths of these. */
function stopAtPackages(folder: string, met: string[]): Esbuild.Plugin {
  return {
    name: "stop-at-packages",
    setup: (bundle) => {
      bundle.onResolve({ filter: /.*/ }, async ({ path: specifier, pluginData, ...rest }) => {
        if (rest.kind === "entry-point" || pluginData === stopAtPackages) return undefined;
        const found = await bundle.resolve(specifier, { ...rest, pluginData: stopAtPackages });
        const real = found.namespace === "file" ? packaged(found.path, folder) : undefined;
        if (real === undefined) return found;
        met.push(real);
        return { path: `package:${met.length}`, external: true };
      });
    },
  };
}

/** All that an app's definition without a file is made of; undefined where a file of the project is a part of it. */
async function definitionInputs(
  options: Esbuild.BuildOptions,
  folder: string,
  build: Build,
): Promise<string[] | undefined> {
  const met: string[] = [];
  // The official code's plugin keeps count of the entry points that it meets: only the one that gives the text takes part.
  const plugins = [stopAtPackages(folder, met), ...(options.plugins ?? []).filter(({ name }) => name === VIRTUAL)];
  const { result, opened } = await build({ ...options, plugins, sourcemap: false, write: false });
  const { outputFiles, warnings, metafile } = result;
  const inputs = Object.keys(metafile?.inputs ?? {});
  if (warnings.length > 0 || !inputs.every((input) => isVirtualInput(input, opened))) return undefined;
  return [...(outputFiles ?? []).map(({ text }) => text), ...met];
}

/** What a build depends on but for its options; undefined where that can be anything. */
async function inputsOf(options: Esbuild.BuildOptions, folder: string, build: Build): Promise<string[] | undefined> {
  if (options.platform !== "browser" || !Array.isArray(options.entryPoints)) return undefined;
  if (readdirSync(folder).some((name) => MANIFEST.test(name))) return undefined;
  const entries = options.entryPoints.map((entry) => (typeof entry === "string" ? path.resolve(folder, entry) : ""));
  const [first] = entries;
  const isVirtual = options.plugins?.some(({ name }) => name === VIRTUAL) ?? false;
  if (isVirtual && entries.length === 1 && !existsSync(first!)) return await definitionInputs(options, folder, build);
  const files = entries.map((entry) => packaged(entry, folder));
  if (files.includes(undefined) || (await areLedElsewhere(options, files, build))) return undefined;
  return files as string[];
}

/** Whether the project leads entry points elsewhere: a tsconfig's `paths` apply to them, too. */
async function areLedElsewhere(
  options: Esbuild.BuildOptions,
  asked: readonly (string | undefined)[],
  build: Build,
): Promise<boolean> {
  const found = new Set<string>();
  await build({ ...options, plugins: [entriesAlone(found)], sourcemap: false, metafile: false, write: false });
  return found.size !== asked.length || asked.some((file) => !found.has(file!));
}

/** Where entry points lead, with nothing in them. */
function entriesAlone(found: Set<string>): Esbuild.Plugin {
  return {
    name: "entries-alone",
    setup: (bundle) => {
      bundle.onResolve({ filter: /.*/ }, async ({ path: specifier, pluginData, ...rest }) => {
        if (pluginData === entriesAlone) return undefined;
        const { path: file } = await bundle.resolve(specifier, { ...rest, pluginData: entriesAlone });
        if (existsSync(file)) found.add(realpathSync(file));
        return { path: String(found.size), namespace: "entry" };
      });
      bundle.onLoad({ filter: /.*/, namespace: "entry" }, () => ({ contents: "" }));
    },
  };
}

async function keyOf(options: Esbuild.BuildOptions, folder: string, build: Build): Promise<string | undefined> {
  const inputs = await inputsOf(options, folder, build);
  if (inputs === undefined) return undefined;
  // Names of sources are relative to the project's folder: where it lies is in them.
  const places = inputs.map((input) => (path.isAbsolute(input) ? path.relative(folder, input) : ""));
  const plugins = (options.plugins ?? []).map(({ name }) => name);
  const key = JSON.stringify({ ...options, plugins, inputs, places });
  return key.replaceAll(quoted(folder), "<project>");
}

/** A path as it stands in JSON. */
function quoted(file: string): string {
  return JSON.stringify(file).slice(1, -1);
}

/** Whether nothing but files of packages, and the definition without a file, went into a build. */
function isOfPackages({ warnings, metafile }: Result, opened: Opened, folder: string): boolean {
  const inputs = Object.entries(metafile?.inputs ?? {});
  const isPackaged = (input: string): boolean => {
    const files = opened.filesOf(input);
    return isVirtualInput(input, opened) || (files.length > 0 && files.every((file) => packaged(file, folder)));
  };
  return (
    warnings.length === 0 &&
    inputs.length > 0 &&
    inputs.every(
      ([input, { imports }]) => isPackaged(input) && imports.every((each) => !each.external || each.path === HELPERS),
    )
  );
}

/**
 * The same result for another folder: outputs are named after it, and a definition without a file is, in source maps and the
 * metafile.
 */
function moved({ outputFiles, metafile, ...rest }: Result, from: string, to: string): Result {
  const files = (outputFiles ?? []).map((file) => {
    const name = file.path.startsWith(from + path.sep) ? to + file.path.slice(from.length) : file.path;
    const text = file.text.replaceAll(from, to);
    return { ...file, path: name, contents: Buffer.from(text), text };
  });
  const named = JSON.stringify(metafile).replaceAll(quoted(from), quoted(to));
  return { ...rest, outputFiles: files, metafile: JSON.parse(named) as Esbuild.Metafile };
}

/** The result of a build for the project in `folder`: an earlier one's where it can have no other. */
export async function onceForPackages(options: Esbuild.BuildOptions, folder: string, build: Build): Promise<Made> {
  // What is wrong with the project is told by the real build.
  const key = await keyOf(options, folder, build).catch(() => undefined);
  const known = key === undefined ? undefined : kept.get(key);
  if (known) return { result: moved(known.result, known.folder, folder), isKept: true };
  const { result, opened } = await build(options);
  if (key !== undefined && isOfPackages(result, opened, folder)) {
    if (kept.size >= MOST_KEPT) kept.delete(kept.keys().next().value!);
    kept.set(key, { folder, result });
  }
  return { result, isKept: false };
}
