/**
 * Which files of a project went into its bundles, and what their imports became there: what is checked must be what runs.
 */
import { isBuiltin } from "node:module";
import type { Metafile } from "esbuild";
import type { Opened } from "./opened.ts";
import { PACKAGES, posix, shownPath } from "./project_fs.ts";

/**
 * By file (relative to the project, with forward slashes): by specifier, as it is written, all that bundles took for it. That is a
 * file of the project, or a package as `node_modules/NAME`. Code without a file stands here under the name that esbuild gives it.
 */
export type Bundled = Record<string, Record<string, string[]>>;

const PACKAGE_NAME = /^(@[^/]+\/)?[^/]+/;

/** The package that a path lies in, as `node_modules/NAME`; undefined for a file of a project. */
export function packageOf(file: string): string | undefined {
  const at = file.lastIndexOf(PACKAGES);
  if (at === -1) return undefined;
  return packageFolder(posix(file.slice(at + PACKAGES.length)));
}

/** A file as it stands in `Bundled`. */
function shown(file: string, folder: string): string {
  return packageOf(file) ?? shownPath(folder, file);
}

/** What stands for an input of a bundle in `Bundled`: nothing for what is none of the project's. */
function namesOf(input: string, opened: Opened, folder: string): string[] {
  if (opened.isAdded(input)) return [];
  const files = opened.filesOf(input);
  return files.length === 0 ? [input] : files.map((file) => shown(file, folder));
}

/** Whether an import that was left alone is one of a package, and not of Node.js itself or of a component. */
function isPackage(specifier: string): boolean {
  return /^[@a-z]/i.test(specifier) && !isBuiltin(specifier) && !specifier.includes(":");
}

function packageFolder(specifier: string): string {
  return `node_modules/${PACKAGE_NAME.exec(specifier)?.[0] ?? ""}`;
}

/** Adds what one build in `folder` was made of; `entry` is the name of what is ours in it. */
export function addBundled(
  bundled: Bundled,
  opened: Opened,
  { inputs }: Metafile,
  folder: string,
  entry?: string,
): void {
  const importsOf = (name: string): Bundled[string] =>
    (bundled[name] ??= Object.create(null) as Record<string, string[]>);
  for (const file of opened.files) if (packageOf(file) === undefined) importsOf(shown(file, folder));
  for (const [input, { imports }] of Object.entries(inputs)) {
    if (input === entry) continue;
    for (const name of namesOf(input, opened, folder)) {
      if (name.startsWith("node_modules/")) continue;
      const found = importsOf(name);
      for (const { path: target, original, external } of imports) {
        if (external ? !isPackage(target) : original === undefined) continue;
        const known = (found[original ?? target] ??= []);
        const taken = external ? [packageFolder(target)] : namesOf(target, opened, folder);
        known.push(...taken.filter((each) => !known.includes(each)));
      }
    }
  }
}

let current: Bundled = Object.create(null) as Bundled;

/** Forgets earlier builds; call it at the start of each project. */
export function startBundled(): void {
  current = Object.create(null) as Bundled;
}

/** Records a build of the project in work. */
export function recordBundled(opened: Opened, metafile: Metafile | undefined, folder: string): void {
  if (metafile) addBundled(current, opened, metafile, folder);
}

/** What was bundled since `startBundled`. */
export function takeBundled(): Bundled {
  return current;
}
