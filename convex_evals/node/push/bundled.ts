/**
 * Which files of a project went into its bundles, and what their imports became there: what is checked must be what runs.
 */
import { existsSync } from "node:fs";
import { isBuiltin } from "node:module";
import path from "node:path";
import type { Metafile } from "esbuild";
import { PACKAGES } from "./project_fs.ts";

/**
 * By file (relative to the project, with forward slashes): by specifier, as it is written, all that bundles took for it. That is a
 * file of the project, or a package as `node_modules/NAME`. Code without a file stands here under the name that esbuild gives it.
 */
export type Bundled = Record<string, Record<string, string[]>>;

/** What the official code and esbuild themselves add, and what a project leaves out of its bundles. */
const OURS = /^(convex-virtual-config|server-only-stub|async-hooks-shim|wasm-stub|\(disabled\)):|^<runtime>$|^<define:/;
/** A binary module, which the official code reads. */
const WASM = /^wasm-binary:/;
const PACKAGE_NAME = /^(@[^/]+\/)?[^/]+/;

const posix = (name: string): string => name.split(path.sep).join("/");

/** The package that a path lies in, as `node_modules/NAME`; undefined for a file of a project. */
export function packageOf(file: string): string | undefined {
  const at = file.lastIndexOf(PACKAGES);
  if (at === -1) return undefined;
  return packageFolder(posix(file.slice(at + PACKAGES.length)));
}

/** The file behind a name in a metafile, which may say how it was asked for: `a.ts?x`, `a.json with { type: 'json' }`. */
function existing(name: string, folder: string): string | undefined {
  const file = path.resolve(folder, name.replace(WASM, ""));
  return [file, file.replace(/ with \{.*\}$/s, ""), file.replace(/[?#].*$/s, "")].find((candidate) =>
    existsSync(candidate),
  );
}

/** What stands for an input of a bundle in `Bundled`; undefined for what is none of the project's. */
function nameOf(input: string, folder: string): string | undefined {
  // Files first: a project may name its own as virtual modules are named.
  const file = existing(input, folder);
  if (file === undefined) return OURS.test(input) ? undefined : input;
  return packageOf(file) ?? posix(path.relative(folder, file));
}

/** Whether an import that was left alone is one of a package, and not of Node.js itself or of a component. */
function isPackage(specifier: string): boolean {
  return /^[@a-z]/i.test(specifier) && !isBuiltin(specifier) && !specifier.includes(":");
}

function packageFolder(specifier: string): string {
  return `node_modules/${PACKAGE_NAME.exec(specifier)?.[0] ?? ""}`;
}

/** Adds what one build in `folder` was made of. */
export function addBundled(bundled: Bundled, { inputs }: Metafile, folder: string): void {
  for (const [input, { imports }] of Object.entries(inputs)) {
    const name = nameOf(input, folder);
    if (name === undefined || name.startsWith("node_modules/")) continue;
    const found = (bundled[name] ??= Object.create(null) as Record<string, string[]>);
    for (const { path: target, original, external } of imports) {
      if (external ? !isPackage(target) : original === undefined) continue;
      const known = (found[original ?? target] ??= []);
      const taken = external ? packageFolder(target) : nameOf(target, folder);
      if (taken !== undefined && !known.includes(taken)) known.push(taken);
    }
  }
}

let current: Bundled = Object.create(null) as Bundled;

/** Forgets earlier builds; call it at the start of each project. */
export function startBundled(): void {
  current = Object.create(null) as Bundled;
}

/** Records a build of the project in work. */
export function recordBundled(metafile: Metafile | undefined, folder: string): void {
  if (metafile) addBundled(current, metafile, folder);
}

/** What was bundled since `startBundled`. */
export function takeBundled(): Bundled {
  return current;
}
