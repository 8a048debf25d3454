/** What can be said about a grader without running it: does it parse, and what does it consist of. */
import { readFileSync, realpathSync } from "node:fs";
import { isBuiltin } from "node:module";
import path from "node:path";
import {
  build,
  type BuildFailure,
  type BuildOptions,
  type Loader,
  type Message,
  type OnResolveArgs,
  type OnResolveResult,
  type Plugin,
} from "esbuild";
import { isBare, packageName } from "../tester/resolution.ts";
import { shownPath } from "../push/project_fs.ts";

/** One reason why a grader cannot be loaded; `file` is relative to the suite. */
export interface GraderError {
  file: string | null;
  line: number | null;
  column: number | null;
  message: string;
}

/** `inputs`: the grader and every file it imports relatively, directly or not, relative to the suite and sorted. */
export interface GraderReport {
  file: string;
  errors: GraderError[];
  inputs: string[];
}

/** How a grader and what it imports are bundled to learn what that is. */
export const TO_BE_READ = {
  bundle: true,
  write: false,
  metafile: true,
  platform: "node",
  format: "esm",
  outdir: "out",
  logLevel: "silent",
  // The suite's own tsconfig files must not break, or change, how its graders are read.
  tsconfigRaw: { compilerOptions: { jsx: "react-jsx" } },
} as const satisfies BuildOptions;

/** What graders may import besides scripts. */
const LOADERS: Readonly<Record<string, Loader>> = { ".txt": "text", ".md": "text", ".node": "empty" };

// Packages are resolved when the grader runs; here only the suite's own files count.
const packagesExternal: Plugin = {
  name: "packages-external",
  setup(bundle) {
    bundle.onResolve({ filter: /^[^./]/ }, (args) =>
      args.kind === "entry-point" ? undefined : { path: args.path, external: true },
    );
  },
};

function toError(suite: string, message: Message): GraderError {
  const { location } = message;
  return {
    file: location ? shownPath(suite, path.resolve(suite, location.file)) : null,
    line: location?.line ?? null,
    column: location ? location.column + 1 : null,
    message: message.text,
  };
}

async function inspect(suite: string, file: string): Promise<GraderReport> {
  const absolute = path.resolve(suite, file);
  const shown = shownPath(suite, absolute);
  try {
    const { metafile } = await build({
      ...TO_BE_READ,
      absWorkingDir: suite,
      entryPoints: [absolute],
      plugins: [packagesExternal],
      loader: LOADERS,
    });
    return { file: shown, errors: [], inputs: Object.keys(metafile.inputs).sort() };
  } catch (error) {
    const { errors } = error as Partial<BuildFailure>;
    if (!errors) throw error;
    return { file: shown, errors: errors.map((message) => toError(suite, message)), inputs: [shown] };
  }
}

/**
 * Reads grader files and their relative imports.
 *
 * @param suiteDir root of the suite
 * @param files grader files, absolute or relative to the suite
 */
export async function inspectGraders(suiteDir: string, files: string[]): Promise<GraderReport[]> {
  const suite = realpathSync(suiteDir);
  return await Promise.all(files.map((file) => inspect(suite, file)));
}

/** An environment that a grader asks for by a comment, as vitest finds it. */
const ENVIRONMENT = /@(?:vitest|jest)-environment\s+([\w-]+)/;

/**
 * The packages that graders import, and what they import relatively, their answers apart. Files that cannot be read or
 * parsed count for nothing: that is said where they are graded with.
 *
 * @param suiteDir root of the suite
 * @param files grader files, absolute or relative to the suite
 */
export async function importedPackages(suiteDir: string, files: string[]): Promise<string[]> {
  const suite = realpathSync(suiteDir);
  const found = new Set<string>();
  const resolve = ({ kind, path: specifier, resolveDir }: OnResolveArgs): OnResolveResult | undefined => {
    if (kind === "entry-point") return undefined;
    if (isBare(specifier) && !isBuiltin(specifier)) found.add(packageName(specifier));
    const isRelative = /^\.{0,2}\//.test(specifier);
    const isOfAnswer = path.relative(suite, path.resolve(resolveDir, specifier)).split(path.sep).includes("answer");
    return isRelative && !isOfAnswer ? undefined : { path: specifier, external: true };
  };
  const entryPoints = files.map((file) => path.resolve(suite, file));
  await build({
    ...TO_BE_READ,
    absWorkingDir: suite,
    entryPoints,
    plugins: [{ name: "packages-found", setup: (bundle) => bundle.onResolve({ filter: /.*/ }, resolve) }],
    loader: LOADERS,
    // A suite may have its unused imports kept.
    tsconfigRaw: { compilerOptions: { ...TO_BE_READ.tsconfigRaw.compilerOptions, verbatimModuleSyntax: true } },
  }).catch((error: unknown) => {
    if (!(error as Partial<BuildFailure>).errors) throw error;
  });
  return [...new Set([...found, ...entryPoints.flatMap(environment)])].sort();
}

function environment(file: string): string[] {
  try {
    const [, name] = ENVIRONMENT.exec(readFileSync(file, "utf8")) ?? [];
    return name === undefined ? [] : [name];
  } catch {
    return [];
  }
}
