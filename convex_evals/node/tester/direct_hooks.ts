/** How Node finds and reads what a directly run grader imports: as vite would. */
import { existsSync, realpathSync, statSync } from "node:fs";
import {
  isBuiltin,
  registerHooks,
  type ResolveFnOutput,
  type ResolveHookContext,
  type ResolveHookSync,
} from "node:module";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import {
  EXTENSIONS,
  LIBRARY,
  isBare,
  libraryFile,
  packageName,
  sourcesFor,
  toolchain,
  type PackageSources,
} from "./resolution.ts";

const INSTALLED = "/node_modules/";
/** Texts of the suite's files by real path; the files themselves may be out of sight. */
type Modules = Readonly<Record<string, string>>;

/** The file that a path without an ending, with a TypeScript file's later ending, or of a folder stands for. */
function completed(file: string, modules: Modules): string | undefined {
  const isFile = (name: string): boolean =>
    Object.hasOwn(modules, name) || (statSync(name, { throwIfNoEntry: false })?.isFile() ?? false);
  if (isFile(file)) return file;
  const typescript = file.replace(/\.(m?)js(x?)$/, ".$1ts$2");
  const candidates = [
    typescript,
    ...EXTENSIONS.map((ending) => file + ending),
    ...EXTENSIONS.map((ending) => path.join(file, `index${ending}`)),
  ];
  return candidates.find(isFile);
}

/** Where a file really is: two ways to it must not make two modules of it. */
function real(file: string | undefined, modules: Modules): string | undefined {
  return file === undefined || Object.hasOwn(modules, file) ? file : realpathSync(file);
}

function fromFile(specifier: string, importer: string, modules: Modules): string | undefined {
  if (specifier.startsWith("file:")) return completed(fileURLToPath(specifier), modules);
  if (specifier.startsWith("/")) return completed(specifier, modules);
  return completed(path.resolve(path.dirname(importer), specifier), modules);
}

const BUNDLED = "bundled:";

/** Modules that a bundle brings along and that stand in for files, by the name that imports them. */
export interface BundledModules {
  /** The module that exports them as `modules`. */
  bundle: string;
  modules: Readonly<Record<string, object>>;
  /** Called when one of them is loaded. */
  onLoad?: (name: string) => void;
}

/** The text of a module that is in a bundle under `name`. */
function bundledSource(name: string, { bundle, modules }: BundledModules): string {
  const exports = modules[name]!;
  const names = Object.keys(exports).map((key) =>
    key === "default" ? "export default all.default;" : `export const ${key} = all.${key};`,
  );
  return [
    `import { modules } from ${JSON.stringify(bundle)};`,
    `const all = modules[${JSON.stringify(name)}];`,
    ...names,
  ].join("\n");
}

/** Installs the hooks for a grader that was compiled into `modules`. */
export function installHooks(sources: PackageSources, modules: Modules, bundles: readonly BundledModules[] = []): void {
  const bundled = new Map(bundles.flatMap((bundle) => Object.keys(bundle.modules).map((name) => [name, bundle])));
  const url = (name: string): string =>
    name === LIBRARY ? pathToFileURL(libraryFile).href : import.meta.resolve(name);
  const standIns = new Map([...bundled.keys()].map((name) => [url(name), BUNDLED + name]));

  registerHooks({
    resolve(specifier, context, nextResolve) {
      const found = resolved(specifier, context, nextResolve, sources, modules);
      const standIn = standIns.get(found.url);
      return standIn === undefined ? found : { url: standIn, shortCircuit: true };
    },
    load(asked, context, nextLoad) {
      if (asked.startsWith(BUNDLED)) {
        const name = asked.slice(BUNDLED.length);
        const bundle = bundled.get(name)!;
        bundle.onLoad?.(name);
        return { format: "module", source: bundledSource(name, bundle), shortCircuit: true };
      }
      if (!asked.startsWith("file:") || asked.includes(INSTALLED)) return nextLoad(asked, context);
      const file = fileURLToPath(asked);
      // A grader that imports more than what was compiled is not run directly.
      return Object.hasOwn(modules, file)
        ? { format: "module", source: modules[file]!, shortCircuit: true }
        : nextLoad(asked, context);
    },
  });
}

type Next = Parameters<ResolveHookSync>[2];

const OWN = path.dirname(fileURLToPath(import.meta.url)) + path.sep;

function resolved(
  specifier: string,
  context: ResolveHookContext,
  next: Next,
  sources: PackageSources,
  modules: Modules,
): ResolveFnOutput {
  const importer = context.parentURL?.startsWith("file:") ? fileURLToPath(context.parentURL) : undefined;
  if (specifier.startsWith("file:") && Object.hasOwn(modules, fileURLToPath(specifier))) {
    return { url: specifier, shortCircuit: true };
  }
  if (specifier === LIBRARY) return { url: pathToFileURL(libraryFile).href, shortCircuit: true };
  if (!importer || importer.startsWith(OWN) || isBuiltin(specifier)) return next(specifier, context);
  if (importer.includes(INSTALLED)) return fromPackage(specifier, context, next, sources);
  if (isBare(specifier)) {
    const name = packageName(specifier);
    const folders = name === "vitest" ? toolchain : sourcesFor(path.dirname(importer), sources);
    const folder = folders.find((each) => existsSync(path.join(each, "node_modules", name)));
    return next(specifier, folder === undefined ? context : importedFrom(folder, context));
  }
  const [plain = "", query] = specifier.split("?", 2);
  const file = /^(\.|\/|file:)/.test(plain) ? real(fromFile(plain, importer, modules), modules) : undefined;
  if (file === undefined) return next(specifier, context);
  return { url: pathToFileURL(file).href + (query === undefined ? "" : `?${query}`), shortCircuit: true };
}

/** What a package imports. It may lack what the suite's packages or our toolchain have. */
function fromPackage(
  specifier: string,
  context: ResolveHookContext,
  next: Next,
  sources: PackageSources,
): ResolveFnOutput {
  try {
    return next(specifier, context);
  } catch (error) {
    if (!isBare(specifier)) throw error;
    const name = packageName(specifier);
    const folder = [...sources.packages, ...toolchain].find((each) =>
      existsSync(path.join(each, "node_modules", name)),
    );
    if (!folder) throw error;
    return next(specifier, importedFrom(folder, context));
  }
}

function importedFrom(folder: string, context: ResolveHookContext): ResolveHookContext {
  return { ...context, parentURL: pathToFileURL(path.join(folder, "anything.js")).href };
}
