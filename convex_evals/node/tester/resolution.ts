/**
 * Where a grader's imports come from.
 *
 * A suite may be a bare checkout: its packages are then in a store, and what is in neither comes from our toolchain.
 */
import { existsSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { Plugin } from "vite";
import { ENDING } from "../code_cache.ts";

/** The grader library that we offer, under a name that suites can import from anywhere. */
export const LIBRARY = "convex-evals/grader";
export const libraryFile = fileURLToPath(new URL(`../grader/index${ENDING}`, import.meta.url));

/** The conditions under which vitest lets packages choose what they export. */
export const CONDITIONS = ["node", "development"];

/** What may be left out of a relative import, in vite's order. */
export const EXTENSIONS = [".mjs", ".js", ".mts", ".ts", ".jsx", ".tsx", ".json"];

/** Our library's own files. Node runs them as they are, which saves vite a tenth of a second. */
export const libraryFiles = folderPattern(path.dirname(libraryFile), "");

/** The suite's own files. Vite would leave some endings (.mjs) to Node, which knows nothing of our resolution. */
export function suiteFiles(suite: string): RegExp {
  return folderPattern(suite, "(?!.*node_modules/)");
}

function folderPattern(folder: string, rest: string): RegExp {
  return new RegExp(`^${folder.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")}/${rest}`);
}

/** Folders that hold a node_modules, in the order in which they are asked. */
export interface PackageSources {
  suite: string;
  packages: string[];
}

/** `@scope/name` or `name` of an import. */
export function packageName(specifier: string): string {
  return specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
}

/** Whether an import names a package, and no path or URL. */
export function isBare(specifier: string): boolean {
  return /^(@[^/]+\/)?[a-zA-Z0-9_~][^:]*$/.test(specifier);
}

function ancestors(folder: string): string[] {
  const parent = path.dirname(folder);
  return parent === folder ? [folder] : [folder, ...ancestors(parent)];
}

/** Every folder above our own that has a node_modules: where our own imports resolve. */
export const toolchain = ancestors(path.dirname(fileURLToPath(import.meta.url))).filter((folder) =>
  existsSync(path.join(folder, "node_modules")),
);

/** The folders to look into for an import of a file in `folder`. */
export function sourcesFor(folder: string, { suite, packages }: PackageSources): string[] {
  const upwards = ancestors(folder);
  // Above the suite is the host's business: a package found there by chance would not be there elsewhere.
  const own =
    folder === suite || folder.startsWith(suite + path.sep) ? upwards.slice(0, upwards.indexOf(suite) + 1) : upwards;
  return [...own, ...packages, ...toolchain];
}

/** What to preload into a grader's process: `worker_resolution.ts`, told where to look. */
export function workerResolution({ packages }: PackageSources): string {
  const url = new URL("./worker_resolution.ts", import.meta.url);
  for (const folder of [...packages, ...toolchain]) url.searchParams.append("in", folder);
  return url.href;
}

/** A vite plugin that resolves bare imports of graders and of what they import relatively. */
export function graderResolution(sources: PackageSources): Plugin {
  return {
    name: "convex-evals-grader-resolution",
    enforce: "pre",
    async resolveId(specifier, importer, options) {
      if (specifier === LIBRARY) return libraryFile;
      if (!importer || !isBare(specifier) || importer.includes("/node_modules/")) return null;
      const name = packageName(specifier);
      const folders = name === "vitest" ? toolchain : sourcesFor(path.dirname(importer), sources);
      for (const folder of folders) {
        if (!existsSync(path.join(folder, "node_modules", name))) continue;
        // Vite takes an importer that ends in "*" for a place, and any other for a file that must exist.
        const found = await this.resolve(specifier, path.join(folder, "*"), { ...options, skipSelf: true });
        if (found) return found;
      }
      return null;
    },
  };
}
