/**
 * What of a project runs outside of its deployment: `src/`, what the pages of its root load, and all that those import.
 *
 * Which of these files a grader makes a page of is not known here, so each may be one.
 */
import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import path from "node:path";
import type { BuildFailure, Metafile, Plugin } from "esbuild";
import { addBundled, packageOf, type Bundled } from "./bundled.ts";
import { DeployError } from "./deploy_error.ts";
import { official, type Project } from "./project.ts";

const SCRIPT = /\.[mc]?[jt]sx?$/;
const DECLARATIONS = /\.d\.[mc]?ts$/;
/** Files that cannot be bundled: each may take a build to find. */
const MOST_BROKEN = 50;
const SCRIPT_TAG = /<script\b[^>]{0,1000}?\bsrc\s*=\s*["']?([^"'\s>]{1,1000})/gi;

/** Whether a file may hold code that the type check reads. */
export function isScript(file: string): boolean {
  return SCRIPT.test(file) && !DECLARATIONS.test(file);
}

function scriptsBelow(folder: string): string[] {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name));
}

function loadedByPages(root: string): string[] {
  const pages = readdirSync(root).filter((name) => /\.html?$/i.test(name));
  return pages.flatMap((page) => [...readFileSync(path.join(root, page), "utf8").matchAll(SCRIPT_TAG)].map(([, name]) => path.join(root, name!)));
}

function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/** Files that package.json puts in the place of others; which of them depends on who asks. */
function namedByManifest(root: string): string[] {
  const manifest = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8")) as Record<string, unknown>;
  return ["imports", "exports", "browser"].flatMap((key) => textsIn(manifest[key])).map((name) => path.join(root, name));
}

/** Packages stay outside, what cannot be found is left to whoever bundles it, and `broken` files have nothing in them. */
function projectOnly(broken: ReadonlySet<string>): Plugin {
  return {
    name: "project-only",
    setup(build) {
      build.onResolve({ filter: /.*/ }, async (args) => {
        if (args.kind === "entry-point" || args.pluginData === "asked") return undefined;
        const found = await build.resolve(args.path, { resolveDir: args.resolveDir, importer: args.importer, kind: args.kind, pluginData: "asked" });
        if (found.errors.length > 0 || found.external || packageOf(found.path) !== undefined) return { path: args.path, external: true };
        return { path: found.path, namespace: found.namespace, suffix: found.suffix };
      });
      build.onLoad({ filter: /.*/ }, ({ path: file }) => ((isScript(file) || file.endsWith(".json")) && !broken.has(file) ? undefined : { contents: "", loader: "empty" }));
    },
  };
}

function bundleOnce(root: string, entries: readonly string[], broken: ReadonlySet<string>): Promise<{ metafile: Metafile }> {
  return official.esbuild.build({
    // Names that cannot clash: `a.ts` and `a.js` are both entries.
    entryPoints: entries.map((file, index) => ({ in: file, out: String(index) })),
    absWorkingDir: root, plugins: [projectOnly(broken)], outdir: "out", bundle: true, write: false, metafile: true,
    format: "esm", platform: "browser", jsx: "automatic", logLevel: "silent", treeShaking: false,
    // As the grader library bundles a page: settings of the project must not change what runs.
    tsconfigRaw: {},
  });
}

/** The files that a failed build complains of; what it failed of, where that is no file. */
function complainedOf(root: string, error: unknown): string[] {
  const messages = (error as Partial<BuildFailure>).errors;
  if (!messages) throw error;
  return messages.map(({ text, location }) => {
    if (!location) throw new DeployError(`what may run in a page cannot be bundled: ${text}`);
    return path.resolve(root, location.file);
  });
}

/**
 * A file that cannot be bundled cannot run in a page, and must not hide the others: it is left out. The type check
 * reports what is wrong with it.
 */
async function bundleAllButBroken(root: string, entries: readonly string[]): Promise<Metafile> {
  const broken = new Set<string>();
  for (;;) {
    try {
      return (await bundleOnce(root, entries, broken)).metafile;
    } catch (error) {
      const before = broken.size;
      for (const file of complainedOf(root, error)) broken.add(file);
      if (broken.size === before || broken.size > MOST_BROKEN) throw new DeployError(`what may run in a page cannot be bundled: ${[...broken].map((file) => path.relative(root, file)).join(", ").slice(0, 1000)}`);
    }
  }
}

/** The files that may run in a page or a program of a grader, and what their imports become there. */
export async function bundlePages({ root }: Project): Promise<Bundled> {
  const bundled: Bundled = {};
  const candidates = [...scriptsBelow(path.join(root, "src")), ...loadedByPages(root), ...namedByManifest(root)];
  const entries = [...new Set(candidates)].filter((file) => isScript(file) && file.startsWith(root + path.sep) && existsSync(file));
  if (entries.length === 0) return bundled;
  for (const file of entries) bundled[path.relative(root, file).split(path.sep).join("/")] = {};
  addBundled(bundled, await bundleAllButBroken(root, entries), root);
  // Pictures, fonts and styles, which a page takes in without running them.
  for (const file of Object.keys(bundled)) if (!SCRIPT.test(file) && existsSync(path.join(root, file))) delete bundled[file];
  return bundled;
}
