/** One grader file in vitest, without any configuration but ours. */
import { rmSync } from "node:fs";
import path from "node:path";
import type { UserConfig } from "vite";
import type { createVitest, Vitest } from "vitest/node";
import { graderResolution, libraryFiles, workerResolution, suiteFiles, type PackageSources } from "./resolution.ts";
import { collectVerdict } from "./tasks.ts";
import type { ReportedError, Verdict } from "./verdict.ts";

/** What to run; `timeout` in milliseconds, for each test and each hook. */
export interface GraderRun extends PackageSources {
  grader: string;
  timeout: number;
}

/** Glob characters in a path would make vitest look for another file. */
const escapeGlob = (name: string): string => name.replace(/[\\*?[\]{}()!+@]/g, "\\$&");

/** For the grader of `run`; `root` is an empty folder. */
export function testOptions(run: GraderRun, root: string): Parameters<typeof createVitest>[1] {
  return {
    config: false,
    // An empty folder of our own: vitest looks for workspace files in its root.
    root,
    dir: path.dirname(run.grader),
    include: [escapeGlob(path.basename(run.grader))],
    exclude: [],
    watch: false,
    globals: true,
    // A process of its own: a grader that ends it cannot end the verdict.
    pool: "forks",
    poolOptions: { forks: { singleFork: true, execArgv: ["--disable-sigusr1", "--import", workerResolution(run)] } },
    fileParallelism: false,
    testTimeout: run.timeout,
    hookTimeout: run.timeout,
    passWithNoTests: true,
    allowOnly: true,
    reporters: [{}],
    disableConsoleIntercept: true,
    server: { deps: { inline: [suiteFiles(run.suite)], external: [libraryFiles] } },
  };
}

export function viteOptions(run: GraderRun, root: string): UserConfig {
  return {
    // The folder of a suite is no web root: graders that ask for a DOM read files from anywhere.
    server: { fs: { strict: false } },
    envDir: false,
    publicDir: false,
    cacheDir: path.join(root, "cache"),
    // A string keeps vite from reading (and stumbling over) the tsconfig files of the suite.
    esbuild: { target: "node24", tsconfigRaw: '{"compilerOptions":{"target":"esnext","jsx":"react-jsx"}}' },
    css: { postcss: { plugins: [] } },
    optimizeDeps: { noDiscovery: true, include: [] },
    logLevel: "error",
    clearScreen: false,
    plugins: [graderResolution(run)],
  };
}

async function startVitest(run: GraderRun, root: string): Promise<Vitest> {
  const { createVitest } = await import("vitest/node");
  // What vitest's own command line sets.
  Object.assign(process.env, { TEST: "true", VITEST: "true" });
  process.env.NODE_ENV ??= "test";
  const vitest = await createVitest("test", testOptions(run, root), viteOptions(run, root));
  // Snapshots beside the grader are compared, never written.
  vitest.config.snapshotOptions.updateSnapshot = "none";
  return vitest;
}

/**
 * Runs a grader; one that cannot be loaded is an error in the verdict. `root` is an empty folder.
 *
 * Three processes take part, and each must be kept from finding what is on this machine by chance:
 *
 *     this one     vite, with settings of ours alone: it looks for none in `root`, which is empty
 *     the worker   forked by vitest, with `worker_resolution.ts` preloaded: what Node itself imports there (packages, which
 *                  vite leaves to Node) comes from the suite, its packages or the toolchain
 *     programs     what the grader starts runs elsewhere; the worker inherits the way there (`programs/hand_on.ts`)
 *
 * The worker asks vite for the grader; `graderResolution` says where its imports lead, as `direct_hooks.ts` does without
 * vite. The tester's tests run the same graders both ways, because verdicts must not depend on the way.
 */
export async function runInVitest(run: GraderRun, root: string): Promise<Verdict> {
  const vitest = await startVitest(run, root);
  await vitest.start([]);
  const unhandled = vitest.state.getUnhandledErrors() as ReportedError[];
  const verdict = collectVerdict(vitest.state.getFiles(), unhandled, run.grader);
  // Ends the worker; what vitest does afterwards is not worth waiting for, but for its own temporary folders.
  void vitest.close();
  for (const project of vitest.projects) rmSync(project.tmpDir, { recursive: true, force: true });
  return verdict;
}
