/**
 * The tester: runs one grader file, once, and writes one verdict to an inherited file descriptor.
 *
 *     node tester/main.ts --grader FILE [--compiled-fd N] --suite DIR --packages DIR... --verdict-fd 3 --test-timeout MS
 *
 * What the checker compiled the grader into comes through a descriptor: what the grader starts cannot read it.
 * The first line of stdin is a token that the verdict repeats: a command line could be read by others. What graders
 * print goes to stderr. When stdin ends, so does the tester, with all that it started.
 */
import { closeSync, readFileSync } from "node:fs";
import { enableCompileCache } from "node:module";
import path from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import type { CompiledGrader } from "../checker/compile_grader.ts";
import { runGrader, SuiteNeeded } from "./run.ts";
import { ENDED_EARLY, sendVerdict, type Verdict } from "./verdict.ts";
import { capOutput } from "./output.ts";

// Made by build.ts; large libraries are imported after this.
enableCompileCache(fileURLToPath(new URL("../build/compile-cache", import.meta.url)));

const { values, positionals } = parseArgs({
  options: {
    grader: { type: "string" },
    suite: { type: "string" },
    "compiled-fd": { type: "string" },
    packages: { type: "string", multiple: true, default: [] },
    "verdict-fd": { type: "string", default: "3" },
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

function readCompiled(fd: number): CompiledGrader {
  try {
    return JSON.parse(readFileSync(fd, "utf8")) as CompiledGrader;
  } finally {
    closeSync(fd);
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
    const compiled = values["compiled-fd"] === undefined ? undefined : readCompiled(Number(values["compiled-fd"]));
    const packages = [...values.packages, ...positionals].map((folder) => path.resolve(folder));
    verdict = await runGrader({ grader: path.resolve(grader), suite: path.resolve(suite), packages, timeout }, compiled);
  } catch (error) {
    if (error instanceof SuiteNeeded) {
      sent = true;
      sendVerdict(fd, token, { ...failedRun(error.message), suite_needed: true });
      process.exit(0);
    }
    const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
    verdict = failedRun(message);
  }
  sent = true;
  sendVerdict(fd, token, verdict);
  process.exit(0);
}

await main();
