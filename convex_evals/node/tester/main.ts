/**
 * Runs one grader file, once, in vitest, and writes one verdict to an inherited file descriptor.
 *
 *     node tester/main.ts --grader FILE --suite DIR --packages DIR... --verdict-fd 3 --test-timeout MS
 *
 * For graders that `direct.ts` cannot run. The first line of stdin is a token that the verdict repeats: a command line could be read by others. What graders
 * print goes to stderr. When stdin ends, so does the tester, with all that it started.
 */
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { capOutput } from "./output.ts";
import { handOn, WORKER_FOLDERS } from "./programs/hand_on.ts";
import { parseFds, type ProgramFds } from "./programs/install.ts";
import { withoutHostPaths } from "./tasks.ts";
import { ENDED_EARLY, sendVerdict, type Verdict } from "./verdict.ts";
import type { GraderRun } from "./vitest_run.ts";

const { values, positionals } = parseArgs({
  options: {
    grader: { type: "string" },
    suite: { type: "string" },
    packages: { type: "string", multiple: true, default: [] },
    "verdict-fd": { type: "string", default: "3" },
    "programs-fds": { type: "string" },
    "test-timeout": { type: "string", default: "60000" },
  },
  // `--packages A B` and `--packages A --packages B` mean the same.
  allowPositionals: true,
});

function fail(message: string): never {
  process.stderr.write(`error: ${message}\n`);
  process.exit(2);
}

function failedRun(message: string): Verdict {
  return { tests: [], errors: [{ phase: "unhandled", message, file: null, line: null }] };
}

/** The first line of stdin. */
function readToken(): Promise<string> {
  return new Promise((resolve) => createInterface({ input: process.stdin }).once("line", resolve));
}

function endWithStdin(): void {
  process.stdin.on("end", () => {
    try {
      // Only a process that leads a group has one with its own id.
      process.kill(-process.pid, "SIGKILL");
    } finally {
      process.exit(1);
    }
  });
  process.stdin.resume();
}

async function runGrader(request: GraderRun, programs: ProgramFds | undefined): Promise<Verdict> {
  // Vite works with real paths, and the verdict names frames in the grader.
  const run = { ...request, grader: realpathSync(request.grader), suite: realpathSync(request.suite) };
  const scratch = realpathSync(tmpdir());
  const root = mkdtempSync(path.join(scratch, "tester-"));
  // Vitest writes what it makes of the suite's files: there, where no program that a grader starts sees it.
  process.env.TMPDIR = root;
  process.env[WORKER_FOLDERS] = [scratch, root].join(path.delimiter);
  if (programs) handOn(programs);
  try {
    const { runInVitest } = await import("./vitest_run.ts");
    return withoutHostPaths(await runInVitest(run, root), run.suite);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

async function main(): Promise<void> {
  const { grader, suite } = values;
  if (!grader || !suite) fail("--grader and --suite are needed");
  const fd = Number(values["verdict-fd"]);
  const timeout = Number(values["test-timeout"]);
  if (!Number.isInteger(fd) || !(timeout > 0)) fail("--verdict-fd and --test-timeout are numbers");
  endWithStdin();
  capOutput();
  const token = await readToken();
  let sent = false;
  // Vitest ends the process when a worker dies under it; the caller still gets its document.
  process.on("exit", () => {
    if (!sent) sendVerdict(fd, token, failedRun(ENDED_EARLY));
    process.exitCode = 0;
  });
  let verdict: Verdict;
  try {
    const packages = [...values.packages, ...positionals].map((folder) => path.resolve(folder));
    verdict = await runGrader(
      { grader: path.resolve(grader), suite: path.resolve(suite), packages, timeout },
      parseFds(values["programs-fds"]),
    );
  } catch (error) {
    const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
    verdict = failedRun(message);
  }
  sent = true;
  sendVerdict(fd, token, verdict);
  process.exit(0);
}

await main();
