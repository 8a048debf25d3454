/** One grader, run once: directly where it was compiled ahead, else in vitest. */
import { existsSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { runCompiled } from "./direct.ts";
import type { CompiledGrader } from "../checker/compile_grader.ts";
import type { PackageSources } from "./resolution.ts";
import { withoutHostPaths } from "./tasks.ts";
import type { Verdict } from "./verdict.ts";

/** What to run; `timeout` in milliseconds, for each test and each hook. */
export interface GraderRun extends PackageSources {
  grader: string;
  timeout: number;
}

/** Only the whole of vitest can run the grader, and its files are out of sight. */
export class SuiteNeeded extends Error {}

/** `compiled` is what the checker compiled the grader into, if it did; the suite's own files may then be out of sight. */
export async function runGrader(request: GraderRun, compiled: CompiledGrader | undefined): Promise<Verdict> {
  // Vite works with real paths, and the verdict names frames in the grader.
  const run = compiled
    ? { ...request, grader: compiled.grader, suite: compiled.suite }
    : { ...request, grader: realpathSync(request.grader), suite: realpathSync(request.suite) };
  const root = mkdtempSync(path.join(realpathSync(tmpdir()), "tester-"));
  try {
    const verdict = compiled === undefined ? undefined : await runCompiled(compiled, run, root);
    if (verdict === undefined && !existsSync(run.grader)) throw new SuiteNeeded("Node cannot link the grader");
    return withoutHostPaths(verdict ?? (await inVitest(run, root)), run.suite);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

async function inVitest(run: GraderRun, root: string): Promise<Verdict> {
  const { runInVitest } = await import("./vitest_run.ts");
  return runInVitest(run, root);
}
