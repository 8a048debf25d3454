/**
 * What of a project runs outside of its deployment: `src/`, what the pages of its root load, all code where it has tests, and
 * what those import.
 *
 * Which of these files a grader makes a page of is not known here, so each may be one.
 */
import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import path from "node:path";
import { build, type BuildFailure, type BuildOptions, type Metafile, type Plugin } from "esbuild";
import { PAGE, PROGRAM } from "../grader/bundle_options.ts";
import { addBundled, packageOf, type Bundled } from "./bundled.ts";
import { DeployError } from "./deploy_error.ts";
import { Opened } from "./opened.ts";
import type { Project } from "./project.ts";
import { SCRIPT, isScript, shownPath } from "./project_fs.ts";
import { runByTests } from "./project_tests.ts";

/** What a page or a program takes in without running it. Of everything else that is loaded, a check must know. */
const DATA = /\.(css|scss|sass|less|svg|png|jpe?g|gif|webp|avif|ico|woff2?|ttf|otf|json|txt|md)$/;
/** Names of what imports the candidates. */
const ENTRY = "<candidates>";
/** Files that cannot be bundled: each may take a build to find. */
const MOST_BROKEN = 50;
const SCRIPT_TAG = /<script\b[^>]{0,1000}?\bsrc\s*=\s*["']?([^"'\s>]{1,1000})/gi;

function scriptsBelow(folder: string): string[] {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name));
}

function loadedByPages(root: string): string[] {
  const pages = readdirSync(root, { withFileTypes: true }).filter(
    (entry) => entry.isFile() && /\.html?$/i.test(entry.name),
  );
  return pages.flatMap(({ name: page }) =>
    [...readFileSync(path.join(root, page), "utf8").matchAll(SCRIPT_TAG)].map(([, name]) => path.join(root, name!)),
  );
}

function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/** Files that package.json puts in the place of others; which of them depends on who asks. */
function namedByManifest(root: string): string[] {
  const manifest = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8")) as Record<string, unknown>;
  return ["imports", "exports", "browser"]
    .flatMap((key) => textsIn(manifest[key]))
    .map((name) => path.join(root, name));
}

/** Packages stay outside, what cannot be found is left to whoever bundles it, and `broken` files have nothing in them. */
function projectOnly(broken: ReadonlySet<string>): Plugin {
  return {
    name: "project-only",
    setup(bundle) {
      bundle.onResolve({ filter: /.*/ }, async (args) => {
        if (args.kind === "entry-point" || args.pluginData === "asked") return undefined;
        const found = await bundle.resolve(args.path, {
          resolveDir: args.resolveDir,
          importer: args.importer,
          kind: args.kind,
          pluginData: "asked",
        });
        if (found.errors.length > 0 || found.external || packageOf(found.path) !== undefined) {
          return { path: args.path, external: true };
        }
        return { path: found.path, namespace: found.namespace, suffix: found.suffix };
      });
      bundle.onLoad({ filter: /.*/ }, ({ path: file }) => {
        // What has no suffix is JavaScript for esbuild.
        const read = SCRIPT.test(file) || file.endsWith(".json") || path.extname(file) === "";
        return read && !broken.has(file) ? undefined : { contents: "", loader: "empty" };
      });
    },
  };
}

function bundleOnce(
  root: string,
  entries: readonly string[],
  broken: ReadonlySet<string>,
  options: BuildOptions,
  opened: Opened,
): Promise<{ metafile: Metafile }> {
  // As pages and programs import them: by package.json, a file may stand for another one.
  const names = entries.map((file) => JSON.stringify(`./${shownPath(root, file)}`));
  const contents = names.map((name, index) => `export * as each${index} from ${name};`).join("\n");
  return build({
    ...options,
    stdin: { contents, resolveDir: root, loader: "ts", sourcefile: ENTRY },
    absWorkingDir: root,
    plugins: [opened.plugin, projectOnly(broken)],
    outdir: "out",
    write: false,
    metafile: true,
    treeShaking: false,
  });
}

/** The files that a failed build complains of; what it failed of, where that is no file. */
function complainedOf(opened: Opened, error: unknown): string[] {
  const messages = (error as Partial<BuildFailure>).errors;
  if (!messages) throw error;
  return messages.flatMap(({ text, location }) => {
    const files = location ? opened.filesOf(location.file) : [];
    if (files.length === 0) throw new DeployError(`what may run in a page cannot be bundled: ${text}`);
    return files;
  });
}

/** What was bundled, and the files that had to be left out. */
interface PageBuild {
  metafile: Metafile;
  opened: Opened;
  broken: ReadonlySet<string>;
}

/**
 * A file that cannot be bundled cannot run in a page, and must not hide the others: it is left out. The type check
 * reports what is wrong with it.
 */
async function bundleAllButBroken(root: string, entries: readonly string[], options: BuildOptions): Promise<PageBuild> {
  const broken = new Set<string>();
  for (;;) {
    const opened = new Opened(root);
    try {
      const { metafile } = await bundleOnce(root, entries, broken, options, opened);
      return { metafile, opened, broken };
    } catch (error) {
      const before = broken.size;
      for (const file of complainedOf(opened, error)) broken.add(file);
      if (broken.size === before || broken.size > MOST_BROKEN) {
        throw new DeployError(
          `what may run in a page cannot be bundled: ${[...broken]
            .map((file) => path.relative(root, file))
            .join(", ")
            .slice(0, 1000)}`,
        );
      }
    }
  }
}

/** The files that may run in a page or a program of a grader, and what their imports become there. */
export async function bundlePages({ root }: Project): Promise<Bundled> {
  const bundled: Bundled = Object.create(null) as Bundled;
  const { scripts, misnamed } = await runByTests(root);
  const candidates = [
    ...scriptsBelow(path.join(root, "src")),
    ...loadedByPages(root),
    ...namedByManifest(root),
    ...scripts,
  ];
  const entries = [...new Set(candidates)].filter(
    (file) => isScript(file) && file.startsWith(root + path.sep) && existsSync(file),
  );
  if (entries.length === 0) return bundled;
  for (const file of entries) bundled[shownPath(root, file)] = {};
  // Which of them runs in a page and which in a program is not known either.
  const [page, program] = await Promise.all([
    bundleAllButBroken(root, entries, PAGE),
    bundleAllButBroken(root, entries, PROGRAM),
  ]);
  for (const { opened, metafile } of [page, program]) addBundled(bundled, opened, metafile, root, ENTRY);
  for (const file of Object.keys(bundled)) {
    if (DATA.test(file) && existsSync(path.join(root, file))) delete bundled[file];
  }
  for (const file of misnamed) bundled[shownPath(root, file)] ??= {};
  // What it imports is not known, and something else may know how to run it.
  for (const file of program.broken) {
    if (page.broken.has(file) && !DATA.test(file)) bundled[`<${shownPath(root, file)}, which cannot be bundled>`] = {};
  }
  return bundled;
}
