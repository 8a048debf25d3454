/**
 * Builds of what packages ship, kept while the process lives: a component from a package is the same for every project
 * that uses it, and its packages are read-only.
 */
import { existsSync, realpathSync } from "node:fs";
import path from "node:path";
import type * as Esbuild from "esbuild";
import { isInside, PACKAGES } from "./project_fs.ts";

type Result = Esbuild.BuildResult;

const MOST = 64;
/** esbuild's own, which it puts into the bundle. */
const HELPERS = "<runtime>";

const kept = new Map<string, { folder: string; result: Result }>();

function inPackages(file: string, folder: string): boolean {
  if (!existsSync(file)) return false;
  const real = realpathSync(file);
  return real.includes(PACKAGES) && !isInside(realpathSync(folder), real);
}

/** What the result depends on, whatever the name of the project's folder; undefined where files of the project take part. */
function keyOf(options: Esbuild.BuildOptions, folder: string): string | undefined {
  const entries = Array.isArray(options.entryPoints) ? options.entryPoints : [];
  const files = entries.map((entry) => (typeof entry === "string" ? path.resolve(folder, entry) : ""));
  if (files.length === 0 || !files.every((file) => file !== "" && inPackages(file, folder))) return undefined;
  const plugins = options.plugins?.map(({ name }) => name);
  // Names of sources are relative to the folder: its depth is in them.
  const key = { ...options, plugins, files: files.map((file) => realpathSync(file)), up: path.relative(folder, path.parse(folder).root) };
  return JSON.stringify(key).replaceAll(JSON.stringify(folder).slice(1, -1), "<project>");
}

/** Whether nothing but files of packages went into a build, and no plugin had a part in it. */
function isOfPackages({ errors, warnings, metafile }: Result, folder: string): boolean {
  const inputs = Object.entries(metafile?.inputs ?? {});
  return (
    errors.length === 0 &&
    warnings.length === 0 &&
    inputs.length > 0 &&
    inputs.every(([file, { imports }]) => !/^[a-z-]+:|^\(/.test(file) && inPackages(path.resolve(folder, file), folder) && imports.every(({ path: name, external }) => !external || name === HELPERS))
  );
}

function moved(result: Result, from: string, to: string): Result {
  const outputFiles = result.outputFiles?.map((file) => ({
    path: file.path.startsWith(from + path.sep) ? to + file.path.slice(from.length) : file.path,
    contents: file.contents,
    hash: file.hash,
    get text() {
      return file.text;
    },
  }));
  return { ...result, ...(outputFiles && { outputFiles }) };
}

/** The result of `build` for a project in `folder`, or of an earlier one for the same files of packages. */
export async function onceForPackages(options: Esbuild.BuildOptions, folder: string, build: () => Promise<Result>): Promise<Result> {
  const key = keyOf(options, folder);
  const found = key === undefined ? undefined : kept.get(key);
  if (found) return moved(found.result, found.folder, folder);
  const result = await build();
  if (key !== undefined && isOfPackages(result, folder)) {
    if (kept.size >= MOST) kept.delete(kept.keys().next().value!);
    kept.set(key, { folder, result });
  }
  return result;
}
