/** One grader file in vitest, without any configuration but ours. */
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { TestCase, TestModule, TestSuite, Vitest } from "vitest/node";
import { graderResolution, libraryFiles, workerResolution, suiteFiles, type PackageSources } from "./resolution.ts";
import { failureMessage, runError, type ReportedError, type RunError, type TestVerdict, type Verdict } from "./verdict.ts";

/** What to run; `timeout` in milliseconds, for each test and each hook. */
export interface GraderRun extends PackageSources {
  grader: string;
  timeout: number;
}

/** Glob characters in a path would make vitest look for another file. */
const escapeGlob = (name: string): string => name.replace(/[\\*?[\]{}()!+@]/g, "\\$&");

async function startVitest(run: GraderRun, root: string): Promise<Vitest> {
  const { createVitest } = await import("vitest/node");
  // What vitest's own command line sets.
  Object.assign(process.env, { TEST: "true", VITEST: "true" });
  process.env.NODE_ENV ??= "test";
  const vitest = await createVitest(
    "test",
    {
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
      poolOptions: { forks: { singleFork: true, execArgv: ["--import", workerResolution(run)] } },
      fileParallelism: false,
      testTimeout: run.timeout,
      hookTimeout: run.timeout,
      passWithNoTests: true,
      allowOnly: true,
      reporters: [{}],
      disableConsoleIntercept: true,
      server: { deps: { inline: [suiteFiles(run.suite)], external: [libraryFiles] } },
    },
    {
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
    },
  );
  // Snapshots beside the grader are compared, never written.
  vitest.config.snapshotOptions.updateSnapshot = "none";
  return vitest;
}

function testVerdict(test: TestCase, grader: string): TestVerdict {
  const result = test.result();
  const duration_ms = Math.round((test.diagnostic()?.duration ?? 0) * 100) / 100;
  const base = { name: test.fullName, duration_ms };
  switch (result.state) {
    case "passed":
      return { ...base, outcome: "passed", message: null };
    case "skipped":
      return { ...base, outcome: "skipped", message: result.note ?? null };
    case "failed":
      return { ...base, outcome: "failed", message: failureMessage(result.errors as readonly ReportedError[], grader) };
    case "pending":
      return { ...base, outcome: "failed", message: "the test did not finish" };
    default:
      return result satisfies never;
  }
}

function suiteErrors(owner: TestModule | TestSuite, grader: string): RunError[] {
  return (owner.errors() as readonly ReportedError[]).map((error) => runError("collect", error, grader));
}

function collectVerdict(vitest: Vitest, grader: string): Verdict {
  const modules = vitest.state.getTestModules();
  const tests = modules.flatMap((module) => [...module.children.allTests()].map((test) => testVerdict(test, grader)));
  const errors = [
    ...modules.flatMap((module) => [
      ...suiteErrors(module, grader),
      ...[...module.children.allSuites()].flatMap((suite) => suiteErrors(suite, grader)),
    ]),
    ...vitest.state.getUnhandledErrors().map((error) => runError("unhandled", error as ReportedError, grader)),
  ];
  if (tests.length === 0 && errors.length === 0) {
    errors.push({ phase: "collect", message: "the grader has no tests", file: grader, line: null });
  }
  return { tests, errors };
}

/** Verdicts are kept, and must not differ between machines: paths are relative to the suite. */
function withoutHostPaths({ tests, errors }: Verdict, suite: string): Verdict {
  const plain = (text: string): string => text.replaceAll(`${suite}/`, "");
  return {
    tests: tests.map((test) => ({ ...test, message: test.message === null ? null : plain(test.message) })),
    errors: errors.map((error) => ({ ...error, message: plain(error.message), file: error.file && plain(error.file) })),
  };
}

/** Runs a grader and returns what came of it; a grader that cannot be loaded is an error in the verdict. */
export async function runGrader(request: GraderRun): Promise<Verdict> {
  // Vite works with real paths, and the verdict names frames in the grader.
  const run = { ...request, grader: realpathSync(request.grader), suite: realpathSync(request.suite) };
  const root = mkdtempSync(path.join(realpathSync(tmpdir()), "tester-"));
  try {
    const vitest = await startVitest(run, root);
    await vitest.start([]);
    const verdict = withoutHostPaths(collectVerdict(vitest, run.grader), run.suite);
    // Ends the worker; what vitest does afterwards is not worth waiting for, but for its own temporary folders.
    void vitest.close();
    for (const project of vitest.projects) rmSync(project.tmpDir, { recursive: true, force: true });
    return verdict;
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}
