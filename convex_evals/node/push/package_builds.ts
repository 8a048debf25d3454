/**
 * Builds of what packages ship, kept while the process lives: a component from a package is the same for every project
 * that uses it, and its packages are read-only.
 */
import { existsSync, readFileSync, realpathSync } from "node:fs";
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

/** The definition that the official code gives an app without a configuration; it imports `convex/server` alone. */
const VIRTUAL = "convex-virtual-config";
/** What in a project can lead imports of packages elsewhere; escapes could hide it. */
const LEADS_ELSEWHERE = /"(extends|paths|baseUrl|browser)"|\\u/;

/** Of a definition without a file: what of the project decides what its build gives; undefined where it could be anything. */
function surroundings(file: string, folder: string): string[] | undefined {
  const found: string[] = [];
  for (let place = path.dirname(file); place === folder || isInside(folder, place); place = path.dirname(place)) {
    const convex = path.join(place, "node_modules", "convex");
    if (existsSync(convex)) found.push(inPackages(convex, folder) ? realpathSync(convex) : convex);
    for (const name of ["package.json", "tsconfig.json"]) {
      const setting = path.join(place, name);
      const text = existsSync(setting) ? readFileSync(setting, "utf8") : "";
      if (LEADS_ELSEWHERE.test(text)) return undefined;
      if (name === "tsconfig.json") found.push(text);
    }
  }
  return found;
}

/** What the result depends on, whatever the name of the project's folder; undefined where files of the project take part. */
function keyOf(options: Esbuild.BuildOptions, folder: string): string | undefined {
  const entries = Array.isArray(options.entryPoints) ? options.entryPoints : [];
  const files = entries.map((entry) => (typeof entry === "string" ? path.resolve(folder, entry) : ""));
  const plugins = (options.plugins ?? []).map(({ name }) => name);
  const [first] = files;
  let inputs: string[] | undefined;
  if (first && files.length === 1 && plugins.includes(VIRTUAL) && !existsSync(first)) inputs = surroundings(first, folder);
  else if (first && files.every((file) => file !== "" && inPackages(file, folder))) inputs = files.map((file) => realpathSync(file));
  if (inputs === undefined) return undefined;
  // Names of sources are relative to the folder: its depth is in them.
  const key = { ...options, plugins, inputs, up: path.relative(folder, path.parse(folder).root) };
  return JSON.stringify(key).replaceAll(JSON.stringify(folder).slice(1, -1), "<project>");
}

/** Whether nothing but files of packages went into a build, and no plugin had a part in it but for the definition. */
function isOfPackages({ errors, warnings, metafile }: Result, folder: string): boolean {
  const inputs = Object.entries(metafile?.inputs ?? {});
  const isPackaged = (file: string): boolean => !/^[a-z-]+:|^\(/.test(file) && inPackages(path.resolve(folder, file), folder);
  return (
    errors.length === 0 &&
    warnings.length === 0 &&
    inputs.length > 0 &&
    inputs.every(([file, { imports }]) => (file.startsWith(`${VIRTUAL}:`) || isPackaged(file)) && imports.every(({ path: name, external }) => !external || name === HELPERS))
  );
}

/** The same result for another folder, which source maps name where a definition has no file. */
function moved(result: Result, from: string, to: string): Result {
  const outputFiles = result.outputFiles?.map((file) => {
    const text = file.text.replaceAll(from, to);
    return { path: file.path.startsWith(from + path.sep) ? to + file.path.slice(from.length) : file.path, contents: text === file.text ? file.contents : Buffer.from(text), hash: file.hash, text };
  });
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
