/**
 * Stands in for `esbuild` inside the official code: the same library, in the version that `convex` depends on.
 *
 * Four differences. The working folder is passed with every build, because esbuild remembers the one the process
 * started in and the checker works on many projects. Messages are recorded instead of printed. A file from
 * outside the project and its packages is an error: bundling must not carry files of the host into a deployment. And the
 * files that went into a bundle are recorded. Builds of packages alone are kept for other projects (`package_builds.ts`).
 */
import { existsSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import type * as Esbuild from "esbuild";
import { recordBundled } from "./bundled.ts";
import { record } from "./diagnostics.ts";
import { Opened } from "./opened.ts";
import { onceForPackages, type Made } from "./package_builds.ts";
import { PACKAGES } from "./project_fs.ts";

const require = createRequire(import.meta.url);
const official = createRequire(require.resolve("convex/package.json"))("esbuild") as typeof Esbuild;

/** Whether a file is neither of the project in `folder` nor of a package. */
function isForeign(file: string, folder: string): boolean {
  const root = realpathSync(folder) + path.sep;
  return !file.startsWith(root) && !file.startsWith(folder + path.sep) && !file.includes(PACKAGES);
}

/** The files that messages are about, and quote: what was not opened as code has its path for a name. */
function quoted(messages: readonly Esbuild.Message[], opened: Opened, folder: string): string[] {
  return messages
    .flatMap(({ location, notes }) => [location, ...notes.map((note) => note.location)])
    .flatMap((place) => (place?.file && !opened.isAdded(place.file) ? [place.file] : []))
    .flatMap((name) => {
      const files = opened.filesOf(name);
      return files.length > 0 ? files : [path.resolve(folder, name)];
    });
}

function refuseForeign(files: readonly string[], folder: string): void {
  const found = files.filter((file) => isForeign(file, folder)).map((file) => path.relative(folder, file));
  if (found.length === 0) return;
  const text = `imports a file outside the project: ${found.join(", ")}`;
  record("errors", `✘ [ERROR] ${text}`);
  throw new Error(text);
}

/**
 * A tsconfig's `paths` lead entry points elsewhere, too, those of packages included, of which builds are kept: what was
 * built must be what was asked for, and what the type check reads.
 */
function refuseOtherEntries(
  options: Esbuild.BuildOptions,
  metafile: Esbuild.Metafile,
  opened: Opened,
  folder: string,
): void {
  const entries = Array.isArray(options.entryPoints) ? options.entryPoints : [];
  const asked = new Set(entries.map((entry) => realPath(path.resolve(folder, String(entry)))));
  const built = new Map(entryPointsOf(options, metafile, opened, folder).map((entry) => [realPath(entry), entry]));
  const missing = [...asked].find((entry) => !built.has(entry));
  if (missing === undefined) return;
  const other = [...built].find(([entry]) => !asked.has(entry))?.[1] ?? "nothing";
  const text = `a tsconfig.json or package.json puts ${path.relative(folder, other)} in place of ${path.relative(folder, missing)}, which is to be deployed`;
  record("errors", `✘ [ERROR] ${text}`);
  // As esbuild fails where it is the project that is wrong.
  throw Object.assign(new Error(text), { errors: [] });
}

/** Of which files the outputs are that were asked for; what is imported dynamically stands in chunks of its own. */
function entryPointsOf(
  { outdir, chunkNames }: Esbuild.BuildOptions,
  { outputs }: Esbuild.Metafile,
  opened: Opened,
  folder: string,
): string[] {
  const chunks = chunkNames === undefined ? null : path.resolve(folder, outdir ?? "", path.dirname(chunkNames));
  return Object.entries(outputs).flatMap(([output, { entryPoint }]) => {
    const isChunk = chunks !== null && path.dirname(path.resolve(folder, output)) === chunks;
    if (entryPoint === undefined || isChunk) return [];
    const virtual = opened.standsFor(entryPoint);
    return virtual === undefined ? opened.filesOf(entryPoint) : [virtual];
  });
}

function realPath(file: string): string {
  return existsSync(file) ? realpathSync(file) : file;
}

function recordAll(level: "errors" | "warnings", messages: Esbuild.Message[]): void {
  if (messages.length === 0) return; // each call starts a process of esbuild's
  const kind = level === "errors" ? "error" : "warning";
  for (const line of official.formatMessagesSync(messages, { kind, color: false })) record(level, line.trim());
}

/** A folder of a package as if it lay in the project, whose packages are links: the plugin compares paths. */
function asInstalled(folder: string): string {
  const at = `${folder}${path.sep}`.indexOf(PACKAGES);
  return at === -1 ? folder : path.join(process.cwd(), "node_modules", folder.slice(at + PACKAGES.length));
}

/**
 * The plugin that keeps packages out of bundles asks to be told of every import, and lets relative ones pass. Each
 * question is a message between two processes, and most imports, in packages above all, are relative.
 */
function withoutNeedlessQuestions(plugin: Esbuild.Plugin): Esbuild.Plugin {
  if (plugin.name !== "convex-node-externals") return plugin;
  return {
    name: plugin.name,
    setup: (bundle) =>
      plugin.setup({
        ...bundle,
        onResolve: (options, callback) =>
          bundle.onResolve({ ...options, filter: /^[^.]/ }, (args) =>
            callback({ ...args, resolveDir: asInstalled(args.resolveDir) }),
          ),
      }),
  };
}

let lost: Error | undefined;

/** That esbuild's process died in this one, for which no later build works: what it died of is not said. */
export function lostService(): Error | undefined {
  return lost;
}

const NOTHING: Esbuild.BuildResult = {
  errors: [],
  warnings: [],
  outputFiles: [],
  metafile: { inputs: {}, outputs: {} },
  mangleCache: undefined,
};

/** esbuild's `build`, for the official code. */
export async function build(options: Esbuild.BuildOptions): Promise<Esbuild.BuildResult> {
  if (Array.isArray(options.entryPoints) && options.entryPoints.length === 0) return NOTHING;
  const folder = process.cwd();
  let opened = new Opened(folder);
  let made: Made;
  try {
    const plugins = (options.plugins ?? []).map(withoutNeedlessQuestions);
    const complete = { absWorkingDir: folder, ...options, plugins, logLevel: "silent" } as const;
    made = await onceForPackages(complete, folder, async (each) => {
      opened = new Opened(folder);
      const result = await official.build({ ...each, plugins: [opened.plugin, ...(each.plugins ?? [])] });
      if (result.metafile) refuseOtherEntries(each, result.metafile, opened, folder); // before it is kept
      return { result, opened };
    });
  } catch (error) {
    const failure = error as Partial<Esbuild.BuildFailure>;
    if (!failure.errors) lost = error as Error;
    // Also the tsconfig that one of the project extends.
    refuseForeign(quoted([...(failure.errors ?? []), ...(failure.warnings ?? [])], opened, folder), folder);
    if (failure.errors) recordAll("errors", failure.errors);
    throw error;
  }
  const { result, isKept } = made;
  if (isKept) return result; // of packages alone
  refuseForeign([...quoted(result.warnings, opened, folder), ...opened.files], folder);
  recordAll("warnings", result.warnings);
  recordBundled(opened, result.metafile, folder);
  return result;
}

/** esbuild itself, for builds of ours. */
export const esbuild = official;

export const formatMessagesSync = official.formatMessagesSync;

export default { build, formatMessagesSync };
